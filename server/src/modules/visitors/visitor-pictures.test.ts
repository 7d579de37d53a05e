import { getBalance, listTransactions, transferTokens } from '@bakehouse/contract/credits';
import { getGeneration, listGenerations } from '@bakehouse/contract/generations';
import * as visitors from '@bakehouse/contract/visitors';
import { sql } from 'kysely';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { testGenerations } from '../../testing/test-generations.ts';
import { type TestUser, testServer } from '../../testing/test-server.ts';
import { findUserId } from '../accounts/users.ts';
import { expireGivenJob } from '../billing/jobs/ledger-jobs.ts';
import { findNamedUser } from '../billing/queries.ts';
import { buyForTest } from '../billing/testing/test-user.ts';
import { deleteVisitorPicturesJob } from './jobs/delete-visitor-pictures.ts';
import { VISITORS } from './visitor-questions.ts';

const { server, stub, clock, untilIdle } = await testGenerations();
const { db, config } = server.services;
const BUDGET = config.visitorBudgetBgl;

const start = (prompt = 'a red apple') => server.request(visitors.startVisitorPicture, { body: { prompt } });
const read = (token: string) => server.request(visitors.getVisitorPicture, { params: { token } });
const keep = (token: string, as: TestUser) =>
  server.request(visitors.claimVisitorPicture, { params: { token } }, { as });
const completed = (token: string) =>
  vi.waitFor(
    async () => {
      clock.advance({ seconds: 1 });
      const picture = await read(token);
      expect(picture.state).toBe('completed');
      return picture;
    },
    { interval: 50 },
  );
const pictures = () => db.selectFrom('generations').selectAll().where('user_id', '=', VISITORS).execute();
const nextDay = async () => {
  clock.advance({ hours: 24 });
  await expireGivenJob.run(server.services, {}, AbortSignal.timeout(60_000));
};
const forget = () => deleteVisitorPicturesJob.run(server.services, {}, AbortSignal.timeout(60_000));

beforeEach(async () => {
  stub.startAnew();
  await untilIdle();
  config.visitorBudgetBgl = BUDGET;
});

describe('a picture without an account', () => {
  test("is generated with the Paris page's settings at the installation's expense, and opens with its token", async () => {
    const begun = await start('a red apple on a table');
    expect(begun).toMatchObject({ prompt: 'a red apple on a table', url: null });
    const { url } = await completed(begun.token);
    expect((await fetch(new URL(url ?? '', server.url))).headers.get('content-type')).toBe('image/png');
    const [row] = await pictures();
    expect(row?.parameters).toMatchObject({ cfg_scale: 4, num_inference_steps: 20, k: 2 });
    const { rows } = await sql<{ description: string }>`
      select description from ledger_transfers where debit_account_id = ${`user:${VISITORS}`}`.execute(db);
    expect(rows.map(({ description }) => description)).toContain('Picture by Paris starter');
  });

  test('cannot be read with an unsigned id or an API key', async () => {
    const { token } = await start();
    await completed(token);
    const id = token.slice(0, 36);
    const ada = await server.signUp('Ada');
    for (const made of [id, `${id}${'A'.repeat(token.length - 36)}`, `${token}A`, 'x'])
      await expect(read(made)).rejects.toMatchObject({ status: 404, code: 'not_found' });
    await expect(keep(id, ada)).rejects.toMatchObject({ status: 404 });
    await expect(server.request(getGeneration, { params: { id } }, { as: ada })).rejects.toMatchObject({
      status: 404,
    });
  });

  test('can be claimed once after sign-up, at no cost', async () => {
    const { token } = await start('a penguin in the snow');
    await completed(token);
    const [ada, bob] = [await server.signUp('Ada'), await server.signUp('Bob')];
    const balance = () => server.request(getBalance, { params: { userId: ada.userId } }, { as: ada });
    const before = await balance();
    const { generation_id: id } = await keep(token, ada);
    expect(await balance()).toEqual(before);
    const params = { userId: ada.userId };
    const { generations } = await server.request(listGenerations, { params, query: {} }, { as: ada });
    expect(generations).toMatchObject([
      { id, prompt: 'a penguin in the snow', cost: '0', state: 'completed' },
    ]);
    const picture = await fetch(new URL(generations[0]?.outputs[0]?.url ?? '', server.url));
    expect(picture.status).toBe(200);
    const { transactions } = await server.request(listTransactions, { params, query: {} }, { as: ada });
    expect(transactions.map(({ description }) => description)).toEqual(['Starting credits']);
    await expect(keep(token, bob)).rejects.toMatchObject({ status: 404 });
    await expect(read(token)).rejects.toMatchObject({ status: 404 });
  });

  test('cannot be claimed before it is completed', async () => {
    stub.answer = 'hang';
    const { token } = await start();
    await expect(keep(token, await server.signUp('Ada'))).rejects.toMatchObject({ status: 409 });
  });

  test('is deleted after an hour and no sooner', async () => {
    const { token } = await start();
    await completed(token);
    clock.advance({ minutes: 30 });
    await forget();
    expect((await read(token)).state).toBe('completed');
    clock.advance({ minutes: 31 });
    await forget();
    await expect(read(token)).rejects.toMatchObject({ status: 404 });
    expect(await pictures()).toEqual([]);
    const stored = db.selectFrom('user_storage').select('bytes').where('user_id', '=', VISITORS);
    expect(await stored.executeTakeFirst()).toMatchObject({ bytes: 0n });
  });
});

test("the visitors' account has no username to which credits could be sent", async () => {
  await completed((await start()).token);
  const { username, email } = await db
    .selectFrom('users')
    .select(['username', 'email'])
    .where('id', '=', VISITORS)
    .executeTakeFirstOrThrow();
  const ada = await server.signUp('Ada');
  await buyForTest(db, ada.userId, 25_000_000n);
  for (const recipient_id of [VISITORS, username, email]) {
    const body = { user_id: ada.userId, recipient_id, amount: '1' };
    await expect(server.request(transferTokens, { body }, { as: ada })).rejects.toThrow(
      'Please check the recipient username',
    );
    expect(await findNamedUser(db, recipient_id)).toBeUndefined();
    expect(await findUserId(db, recipient_id)).toBeUndefined();
  }
});

describe('visitor access', () => {
  test('ends with the daily budget and resumes the next day', async () => {
    await nextDay();
    config.visitorBudgetBgl = '0.3';
    await completed((await start()).token);
    await expect(start()).rejects.toThrow("Today's free trials are used up. Sign up to continue.");
    await nextDay();
    await completed((await start()).token);
  });

  test('uses the same budget all day: a changed setting applies from the next day', async () => {
    await nextDay();
    config.visitorBudgetBgl = '0.3';
    await completed((await start()).token);
    for (const budget of ['0.25', '25']) {
      config.visitorBudgetBgl = budget;
      await expect(start()).rejects.toThrow("Today's free trials are used up. Sign up to continue.");
    }
    await nextDay();
    await completed((await start()).token);
  });

  test("is disabled by the operator's setting", async () => {
    config.visitorBudgetBgl = '0';
    expect(await server.request(visitors.getVisitorTries, {})).toMatchObject({ picture: 'off', chat: 'off' });
    await expect(start()).rejects.toMatchObject({ status: 409 });
  });

  test('refuses invalid input by name without starting anything', async () => {
    const count = (await pictures()).length;
    for (const prompt of ['', '  ', 'x'.repeat(301), 'a\u0000b'])
      await expect(start(prompt)).rejects.toThrow(/prompt/i);
    expect(await pictures()).toHaveLength(count);
  });

  test('has eight slots for all visitors, and refuses a ninth picture', async () => {
    stub.answer = 'hang';
    for (let each = 0; each < 8; each += 1) await start();
    await expect(start()).rejects.toThrow(
      'Other visitors are trying it right now. Try again in a few seconds, or sign up.',
    );
  });
});

test('counts pictures per network', async () => {
  const limited = await testServer({
    config: { rateLimits: true, rateLimitPerMinute: 0, visitorBudgetBgl: '0' },
  });
  const from = (address: string) =>
    limited.send(
      visitors.startVisitorPicture,
      { body: { prompt: 'bread' } },
      { headers: { 'x-forwarded-for': address } },
    );
  for (let each = 0; each < 12; each += 1) expect((await from('203.0.113.1')).status).toBe(409);
  expect((await from('203.0.113.1')).status).toBe(429);
  expect((await from('203.0.113.2')).status).toBe(409);
});
