import { randomUUID } from 'node:crypto';
import { createCodes, listCodes, redeemCode, revokeCode } from '@bakehouse/contract/codes';
import type { CallOf } from '@bakehouse/contract/endpoint';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { type TestUser, testServer } from '../../../testing/test-server.ts';
import { creditsServer } from '../testing/credits-server.ts';
import { hashCode } from './codes.ts';

const credits = await creditsServer();
const { server, db, auditOf, balanceOf, statementOf } = credits;
const operator = await credits.signUpOperator();

const make = async (body: Partial<CallOf<typeof createCodes>['body']> = {}): Promise<string[]> => {
  const call = { body: { amount: '50', ...body } };
  return (await server.request(createCodes, call, { as: operator, idempotencyKey: randomUUID() })).codes;
};
const redeem = (who: TestUser, code: string | undefined, idempotencyKey: string = randomUUID()) =>
  server.request(
    redeemCode,
    { body: { user_id: who.userId, code: code ?? '' } },
    { as: who, idempotencyKey },
  );
const list = async () => (await server.request(listCodes, { query: {} }, { as: operator })).codes;
const refused = { status: 404, body: { error: { param: 'code' } } };

describe('a code', () => {
  test('grants sendable credits, and may be typed in lower case, without dashes, or with similar letters', async () => {
    const ada = await server.signUp('Ada');
    const [code = ''] = await make();
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/);
    const typed = ` ${code.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `;
    expect(await redeem(ada, typed)).toMatchObject({ amount: '50' });
    expect(await balanceOf(ada)).toMatchObject({ balance: '50', sendable: '50' });
    expect((await statementOf(ada)).transactions).toMatchObject([
      { transaction_type: 'credit', description: `Code ending in ${code.slice(-4)}` },
    ]);
    expect(await auditOf(ada, 'code.redeemed')).toMatchObject([{ detail: { amount: '50' } }]);
    expect((await auditOf(operator, 'codes.created')).at(-1)).toMatchObject({
      detail: { count: '1', amount: '50', redemptions_max: '1' },
    });
  });

  test('is redeemed at most the allowed number of times, and once per user, also concurrently', async () => {
    const people = await Promise.all(['Ada', 'Bob', 'Eve', 'Kim'].map((name) => server.signUp(name)));
    const [code] = await make({ redemptions_max: 3 });
    const answers = await Promise.allSettled(people.flatMap((who) => [redeem(who, code), redeem(who, code)]));
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    const balances = await Promise.all(people.map(async (who) => (await balanceOf(who)).balance));
    expect(balances.toSorted()).toEqual(['0', '50', '50', '50']);
  });

  test('is redeemed once if the same call is repeated, and rejected for a second call', async () => {
    const ada = await server.signUp('Ada');
    const [code] = await make({ redemptions_max: 2 });
    const key = randomUUID();
    expect(await redeem(ada, code, key)).toEqual(await redeem(ada, code, key));
    await expect(redeem(ada, code)).rejects.toMatchObject({
      status: 409,
      body: { error: { param: 'code' } },
    });
    // The rejected call has not used up a redemption.
    expect(await redeem(await server.signUp('Bob'), code)).toMatchObject({ amount: '50' });
  });

  test('is rejected with one error if used up, revoked or unknown', async () => {
    const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
    const [used, revoked] = await make({ count: 2 });
    await redeem(ada, used);
    const row = (await list()).find(({ hint }) => hint === revoked?.slice(-4));
    await server.request(revokeCode, { params: { codeId: row?.id ?? '' } }, { as: operator });
    for (const code of [used, revoked, 'AAAA-BBBB-CCCC-DDDD'])
      await expect(redeem(bob, code)).rejects.toMatchObject(refused);
    await expect(
      server.request(revokeCode, { params: { codeId: row?.id ?? '' } }, { as: operator }),
    ).rejects.toMatchObject({ status: 404 });
  });

  test('expires', async () => {
    const clock = fakeClock(new Date('2030-01-01T00:00:00Z'));
    const later = await testServer({ config: { startingGrantBgl: '0' }, clock });
    const ada = await later.signUp('Ada');
    await later.services.db
      .insertInto('credit_codes')
      .values({
        sha256: hashCode('AAAA'),
        hint: 'AAAA',
        amount_micro: 1n,
        redemptions_max: 1,
        note: '',
        expires_at: new Date('2030-01-01T00:00:00Z'),
        created_by: ada.userId,
      })
      .execute();
    const call = { body: { user_id: ada.userId, code: 'aaaa' } };
    await expect(
      later.request(redeemCode, call, { as: ada, idempotencyKey: randomUUID() }),
    ).rejects.toMatchObject(refused);
  });
});

describe('the operator', () => {
  test('sees the codes and who redeemed them', async () => {
    const ada = await server.signUp('Ada');
    const [code] = await make({ note: 'Workshop', expires_at: '2099-01-01T00:00:00Z' });
    await redeem(ada, code);
    const [newest] = await list();
    expect(newest).toMatchObject({
      hint: code?.slice(-4),
      amount: '50',
      note: 'Workshop',
      redemptions: 1,
      redemptions_max: 1,
      redeemed_by: [{ username: await credits.usernameOf(ada) }],
      expires_at: '2099-01-01T00:00:00.000Z',
      revoked_at: null,
    });
  });

  test('reads codes page by page', async () => {
    await make({ count: 5 });
    const page = (cursor?: string) =>
      server.request(listCodes, { query: { limit: 2, cursor } }, { as: operator });
    const first = await page();
    const second = await page(first.next_cursor ?? undefined);
    const ids = [...first.codes, ...second.codes].map(({ id }) => id);
    expect(ids).toEqual((await list()).slice(0, 4).map(({ id }) => id));
  });

  test('stores only hashes of codes', async () => {
    const [code = ''] = await make();
    const rows = await db.selectFrom('credit_codes').selectAll().execute();
    expect(
      JSON.stringify(rows, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(code);
  });

  test.each([
    [{ amount: '0' }, 'amount'],
    [{ count: 0 }, 'count'],
    [{ redemptions_max: 1.5 }, 'redemptions_max'],
    [{ expires_at: '2000-01-01T00:00:00Z' }, 'expires_at'],
  ])('gets an error that names the field for %j', async (body, param) => {
    await expect(make(body)).rejects.toMatchObject({ status: 400, body: { error: { param } } });
  });
});
