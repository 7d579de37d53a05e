import { getMe } from '@bakehouse/contract/accounts';
import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { deleteAccount } from '@bakehouse/contract/privacy';
import { generateReferral, validateReferral } from '@bakehouse/contract/referrals';
import { beforeAll, describe, expect, test } from 'vitest';
import { authClient, bodyOf, cookieOf, password } from '../../testing/auth-client.ts';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { mailboxHash } from '../accounts/returning/returning-users.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});

async function signUp(email: string, at = server): Promise<TestUser> {
  const { post, keyOf } = authClient(at);
  const answer = await post('/sign-up/email', { name: 'Ada', email, password });
  const { user } = await bodyOf(answer);
  return { userId: user.id, email, cookie: cookieOf(answer), apiKey: await keyOf(answer) };
}
const remove = ({ cookie }: TestUser, at = server) =>
  at.request(deleteAccount, { body: { password } }, { headers: { cookie } });
const balanceOf = async (as: TestUser, at = server) =>
  (await at.request(getBalance, { params: { userId: as.userId } }, { as })).balance;
const isReturning = async (as: TestUser, at = server) => (await at.request(getMe, {}, { as })).is_returning;
const use = async (as: TestUser, inviter: TestUser) => {
  const { referral_code } = await server.request(generateReferral, {}, { as: inviter });
  return server.request(validateReferral, { query: { referral_code } }, { as });
};

describe('a mailbox that had an account', () => {
  test('receives no starting credits again, however the address is spelled', async () => {
    const first = await signUp('ada@gmail.com');
    expect([await balanceOf(first), await isReturning(first)]).toEqual(['125', false]);
    await remove(first);
    for (const email of ['ada@gmail.com', 'A.da+two@GoogleMail.com']) {
      const again = await signUp(email);
      expect([await balanceOf(again), await isReturning(again)]).toEqual(['0', true]);
      const { transactions } = await server.request(
        listTransactions,
        { params: { userId: again.userId } },
        { as: again },
      );
      expect(transactions).toEqual([]);
    }
    expect(await balanceOf(await signUp('adam@gmail.com'))).toBe('125');
  });

  test('is stored at the latest when the account is deleted', async () => {
    const bob = await signUp('bob@example.com');
    await server.services.db.deleteFrom('known_addresses').execute();
    await remove(bob);
    expect(await balanceOf(await signUp('bob@example.com'))).toBe('0');
  });

  test('receives starting credits once if it signs up several times concurrently', async () => {
    const emails = Array.from({ length: 6 }, (_, at) => `cora+${at}@gmail.com`);
    const users = await Promise.all(emails.map((email) => signUp(email)));
    const balances = await Promise.all(users.map((user) => balanceOf(user)));
    expect(balances.toSorted()).toEqual(['0', '0', '0', '0', '0', '125']);
  });

  test('counts for no second invitation, so that no second bonus is paid', async () => {
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

  test('counts for one invitation if it signs up several times concurrently', async () => {
    const inviter = await server.signUp('Fay');
    const users = await Promise.all([0, 1, 2, 3].map((at) => signUp(`gus+${at}@gmail.com`)));
    const answers = await Promise.all(users.map((user) => use(user, inviter)));
    expect(answers.filter(({ success }) => success)).toHaveLength(1);
    expect(await balanceOf(inviter)).toBe('250');
  });
});

describe('with mail configured', () => {
  let mailing: TestServer;
  beforeAll(async () => {
    const mail = { host: '127.0.0.1', port: 1, tls: 'none' as const, from: 'a@example.com', login: null };
    mailing = await testServer({ config: { mail } });
  });

  /** Opens the mailed link with the account's cookie, `times` times concurrently. */
  async function confirm({ email, cookie }: TestUser, times = 1): Promise<void> {
    const { body } = await mailing.services.db
      .selectFrom('outgoing_mails')
      .select('body')
      .where('recipient', '=', email)
      .executeTakeFirstOrThrow();
    const { search } = new URL(/^https?:\S+/m.exec(body)?.[0] ?? '');
    const open = () => fetch(`${mailing.url}/api/auth/verify-email${search}`, { headers: { cookie } });
    for (const { status } of await Promise.all(Array.from({ length: times }, open))) expect(status).toBe(200);
  }

  test('a stranger who signs up with an address does not use up the starting credits of its owner', async () => {
    await signUp('vic+eve@gmail.com', mailing);
    await remove(await signUp('vic+mallory@gmail.com', mailing), mailing);
    const owner = await signUp('vic@gmail.com', mailing);
    expect([await balanceOf(owner, mailing), await isReturning(owner, mailing)]).toEqual(['125', false]);
  });

  test('remembers a mailbox once an address of it is confirmed, even if the account is deleted', async () => {
    const first = await signUp('wim@gmail.com', mailing);
    const second = await signUp('wim+2@gmail.com', mailing);
    await confirm(first, 3);
    expect(await isReturning(first, mailing)).toBe(false);
    // The account is older than the confirmation of the other address, but its mailbox is known now.
    await confirm(second);
    expect(await isReturning(second, mailing)).toBe(true);
    await remove(first, mailing);
    const again = await signUp('wim@gmail.com', mailing);
    expect([await balanceOf(again, mailing), await isReturning(again, mailing)]).toEqual(['0', true]);
  });
});

test('stores a keyed hash of an address, so addresses cannot be guessed without the secret', async () => {
  const secret = 'one secret of the server, long enough';
  expect(mailboxHash('ada@proton.me', secret)).toEqual(mailboxHash('ADA+x@proton.me', secret));
  expect(mailboxHash('ada@example.com', secret)).not.toEqual(mailboxHash('ada+x@example.com', secret));
  expect(mailboxHash('a.d.a@gmail.com', secret)).toEqual(mailboxHash('ada@googlemail.com', secret));
  expect(mailboxHash('a.d.a@example.com', secret)).not.toEqual(mailboxHash('ada@example.com', secret));
  expect(mailboxHash('ada@example.com', 'another')).not.toEqual(mailboxHash('ada@example.com', secret));
});
