import { getBalance, listTransactions } from '@bakehouse/contract/credits';
import { listNotifications } from '@bakehouse/contract/notifications';
import {
  deletePendingReferral,
  generateReferral,
  getPendingReferral,
  getXAuthStatus,
  getXPostStatus,
  postReferralToX,
  validateReferral,
} from '@bakehouse/contract/referrals';
import { beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, type TestUser, testServer } from '../../testing/test-server.ts';
import { verifyLedger } from '../billing/verification/verify-ledger.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ config: { referralsMax: 3, sendGivenCredits: true } });
});

const infoOf = (as: TestUser) => server.request(generateReferral, {}, { as });
const codeOf = async (as: TestUser) => (await infoOf(as)).referral_code;
const use = (as: TestUser, referral_code: string) =>
  server.request(validateReferral, { query: { referral_code } }, { as });
const balanceOf = async (as: TestUser) =>
  server.request(getBalance, { params: { userId: as.userId } }, { as });

describe('an invitation', () => {
  test('has one code per user, and a link with this code', async () => {
    const ada = await server.signUp('Ada');
    const [first, second] = await Promise.all([infoOf(ada), infoOf(ada)]);
    expect(first).toEqual(second);
    expect(first).toMatchObject({
      bonus: '125',
      referrals_max: 3,
      referrals_total: 0,
      earned: '0',
      referrals: [],
    });
    expect(first.referral_link).toBe(`${server.url}/?referral_code=${first.referral_code}`);
    expect(first.referral_code).toMatch(/^[a-z0-9]{8}$/);
    expect(await codeOf(await server.signUp('Bob'))).not.toBe(first.referral_code);
  });

  test('pays both sides a bonus that can be spent and sent', async () => {
    const inviter = await server.signUp('Cora');
    const code = await codeOf(inviter);
    const invited = await server.signUp('Dan');
    const answer = await use(invited, code.toUpperCase());
    expect(answer).toMatchObject({ success: true, data: { reason: null, bonus: '125', is_new: true } });
    for (const who of [inviter, invited]) {
      expect(await balanceOf(who)).toMatchObject({ balance: '250', given: '0', sendable: '250' });
      const { transactions } = await server.request(
        listTransactions,
        { params: { userId: who.userId } },
        { as: who },
      );
      expect(transactions[0]).toMatchObject({ transaction_type: 'credit', amount: '125' });
      expect(transactions[0]?.description).toMatch(/^Invitation (by|of) /);
    }
    expect(await infoOf(inviter)).toMatchObject({
      referrals_total: 1,
      earned: '125',
      referrals: [{ bonus: '125' }],
    });
    const notificationsOf = (who: TestUser) =>
      server.request(listNotifications, { params: { userId: who.userId } }, { as: who });
    expect(await notificationsOf(inviter)).toMatchObject([
      {
        message: 'A friend accepted your invitation: 125.00 BGL was added to your balance',
        amount: '125',
        link: '/invite',
      },
    ]);
    expect(await notificationsOf(invited)).toEqual([]);
    const counted = await server.services.db
      .selectFrom('audit_log')
      .select(['user_id', 'detail'])
      .where('action', '=', 'referral.counted')
      .execute();
    expect(counted).toMatchObject([
      { user_id: invited.userId, detail: { inviter_id: inviter.userId, bonus: '125' } },
    ]);
  });

  test('counts once, however often and concurrently it is used, with one code or several', async () => {
    const [first, second] = [await server.signUp('Eve'), await server.signUp('Fay')];
    const codes = [await codeOf(first), await codeOf(second)];
    const invited = await server.signUp('Gus');
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => use(invited, codes[n % 2] ?? '')));
    expect(answers.filter(({ data }) => data.is_new)).toHaveLength(1);
    expect((await balanceOf(invited)).balance).toBe('250');
    const given = await Promise.all([first, second].map(async (one) => (await balanceOf(one)).balance));
    expect(given.sort()).toEqual(['125', '250']);
    const winner = answers.find(({ data }) => data.is_new)?.data.referral_code ?? '';
    const loser = codes.find((code) => code !== winner) ?? '';
    expect(await use(invited, winner)).toMatchObject({
      success: true,
      data: { is_new: false, bonus: '125' },
    });
    expect(await use(invited, loser)).toMatchObject({ success: false, data: { reason: 'already_invited' } });
  });

  test('never counts beyond the limit, even with concurrent uses', async () => {
    const inviter = await server.signUp('Hal');
    const code = await codeOf(inviter);
    const invited: TestUser[] = [];
    for (let n = 0; n < 6; n += 1) invited.push(await server.signUp('Ida'));
    const answers = await Promise.all(invited.map((one) => use(one, code)));
    expect(answers.filter(({ success }) => success)).toHaveLength(3);
    for (const { success, data } of answers) if (!success) expect(data.reason).toBe('limit_reached');
    expect((await balanceOf(inviter)).balance).toBe('500');
    expect(await infoOf(inviter)).toMatchObject({ referrals_total: 3, earned: '375' });
  });

  test("refuses the user's own code, an older account and an unknown code", async () => {
    const older = await server.signUp('Jon');
    const younger = await server.signUp('Kim');
    const reasonOf = async (who: TestUser, code: string) => (await use(who, code)).data.reason;
    expect(await reasonOf(older, await codeOf(older))).toBe('own_code');
    expect(await reasonOf(older, await codeOf(younger))).toBe('account_too_old');
    expect(await reasonOf(older, 'nobodys1')).toBe('unknown_code');
    expect((await balanceOf(older)).balance).toBe('125');
    await expect(use(older, "x' or 1=1")).rejects.toMatchObject({ status: 400 });
  });

  test('keeps the ledger balanced', async () => {
    expect(await verifyLedger(server.services.db)).toMatchObject({ ok: true });
  });
});

test("with mail configured, an invitation counts only if the user's address is confirmed", async () => {
  const mail = { host: '127.0.0.1', port: 1, tls: 'none' as const, from: 'a@example.com', login: null };
  const mailing = await testServer({ config: { mail } });
  const [inviter, invited] = [await mailing.signUp('Lea'), await mailing.signUp('Max')];
  const { referral_code } = await mailing.request(generateReferral, {}, { as: inviter });
  const ask = () => mailing.request(validateReferral, { query: { referral_code } }, { as: invited });
  expect(await ask()).toMatchObject({ success: false, data: { reason: 'address_not_confirmed' } });
  await mailing.services.db
    .updateTable('users')
    .set({ email_verified: true })
    .where('id', '=', invited.userId)
    .execute();
  expect(await ask()).toMatchObject({ success: true, data: { is_new: true } });
});

describe('the pending code', () => {
  test("is read from the browser's cookie, only for its user, until deleted", async () => {
    const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
    const headers = { cookie: `${ada.cookie}; bakehouse.referral=ABCD2345` };
    const query = { userId: ada.userId };
    expect(await server.request(getPendingReferral, { query }, { headers })).toEqual({
      referralCode: 'abcd2345',
    });
    expect(await server.request(getPendingReferral, { query }, { headers: { cookie: ada.cookie } })).toEqual({
      referralCode: null,
    });
    const foreign = server.request(getPendingReferral, { query: { userId: bob.userId } }, { headers });
    await expect(foreign).rejects.toMatchObject({ status: 403 });
    const forgotten = await server.send(deletePendingReferral, { query }, { headers });
    expect(forgotten.status).toBe(204);
    expect(forgotten.headers.get('set-cookie')).toMatch(
      /^bakehouse\.referral=; Path=\/api\/referral; .*Max-Age=0/,
    );
  });

  test('is empty if the cookie holds no valid code', async () => {
    const ada = await server.signUp('Ada');
    const headers = { cookie: `${ada.cookie}; bakehouse.referral=<script>` };
    const answer = await server.request(getPendingReferral, { query: { userId: ada.userId } }, { headers });
    expect(answer).toEqual({ referralCode: null });
  });
});

test('reports plainly that X is not configured', async () => {
  const as = await server.signUp('Ada');
  const query = { referral_code: await codeOf(as) };
  expect(await server.request(getXAuthStatus, {}, { as })).toEqual({
    status: 'not_configured',
    username: null,
  });
  expect(await server.request(getXPostStatus, { query }, { as })).toMatchObject({ status: 'not_configured' });
  await expect(server.request(postReferralToX, { body: { message: 'Hello' } }, { as })).rejects.toMatchObject(
    {
      status: 409,
      body: {
        error: {
          message: 'Posting on X is not configured on this server. Share your invitation link yourself',
        },
      },
    },
  );
});
