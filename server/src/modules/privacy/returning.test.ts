import { getMe } from '@bakehouse/contract/accounts';
import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { deleteAccount } from '@bakehouse/contract/privacy';
import { generateReferral, validateReferral } from '@bakehouse/contract/referrals';
import { beforeAll, describe, expect, test } from 'vitest';
import { authClient, bodyOf, cookieOf, password } from '../../testing/auth-client.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { mailboxHash } from '../accounts/returning/mailbox-hash.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

async function signUp(email: string): Promise<TestUser> {
  const { post, keyOf } = authClient(server);
  const answer = await post('/sign-up/email', { name: 'Ada', email, password });
  const { user } = await bodyOf(answer);
  return { userId: user.id, email, cookie: cookieOf(answer), apiKey: await keyOf(answer) };
}
const remove = ({ cookie }: TestUser) =>
  server.request(deleteAccount, { body: { password } }, { headers: { cookie } });
const balanceOf = async (as: TestUser) =>
  (await server.request(getBalance, { params: { userId: as.userId } }, { as })).balance;
const isReturning = async (as: TestUser) => (await server.request(getMe, {}, { as })).is_returning;
const use = async (as: TestUser, inviter: TestUser) => {
  const { referral_code } = await server.request(generateReferral, {}, { as: inviter });
  return server.request(validateReferral, { query: { referral_code } }, { as });
};

describe('a mailbox that had an account', () => {
  test('is given no starting credits again, however it is spelt, and the account says so', async () => {
    const first = await signUp('ada@example.com');
    expect([await balanceOf(first), await isReturning(first)]).toEqual(['125', false]);
    await remove(first);
    for (const email of ['ada@example.com', 'Ada+two@Example.com']) {
      const again = await signUp(email);
      expect([await balanceOf(again), await isReturning(again)]).toEqual(['0', true]);
      const { transactions } = await server.request(
        listTransactions,
        { params: { userId: again.userId } },
        { as: again },
      );
      expect(transactions).toEqual([]);
    }
    expect(await balanceOf(await signUp('adam@example.com'))).toBe('125');
  });

  test('is remembered at its deletion, if it had signed up before addresses were remembered', async () => {
    const bob = await signUp('bob@example.com');
    await server.services.db.deleteFrom('known_addresses').execute();
    await remove(bob);
    expect(await balanceOf(await signUp('bob@example.com'))).toBe('0');
  });

  test('is given starting credits once, where it signs up several times at the same time', async () => {
    const emails = Array.from({ length: 6 }, (_, at) => `cora+${at}@example.com`);
    const users = await Promise.all(emails.map(signUp));
    const balances = await Promise.all(users.map(balanceOf));
    expect(balances.toSorted()).toEqual(['0', '0', '0', '0', '0', '125']);
  });

  test('counts for no invitation again, and neither side is given a bonus', async () => {
    const inviter = await server.signUp('Dan');
    const eve = await signUp('eve@example.com');
    expect(await use(eve, inviter)).toMatchObject({ success: true });
    await remove(eve);
    const again = await signUp('eve@example.com');
    expect(await use(again, inviter)).toMatchObject({
      success: false,
      data: {
        reason: 'returning_user',
        message: 'Invitation codes are for new people, and this email address has had an account here before',
        bonus: null,
      },
    });
    expect([await balanceOf(again), await balanceOf(inviter)]).toEqual(['0', '250']);
  });

  test('counts for one invitation, where it signs up several times at the same time', async () => {
    const inviter = await server.signUp('Fay');
    const users = await Promise.all([0, 1, 2, 3].map((at) => signUp(`gus+${at}@example.com`)));
    const answers = await Promise.all(users.map((user) => use(user, inviter)));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    expect(await balanceOf(inviter)).toBe('250');
  });
});

test('of an address a keyed hash is kept: without the secret nobody can try addresses out', async () => {
  const secret = 'one secret of the server, long enough';
  expect(mailboxHash('ada@example.com', secret)).toEqual(mailboxHash('ADA+x@example.com', secret));
  expect(mailboxHash('a.d.a@gmail.com', secret)).toEqual(mailboxHash('ada@googlemail.com', secret));
  expect(mailboxHash('a.d.a@example.com', secret)).not.toEqual(mailboxHash('ada@example.com', secret));
  expect(mailboxHash('ada@example.com', 'another')).not.toEqual(mailboxHash('ada@example.com', secret));
});
