import Fastify from 'fastify';
import { sql } from 'kysely';
import { beforeEach, expect, test, vi } from 'vitest';
import { readConfig } from '../../../config.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { sendError } from '../send-error.ts';
import { addressOf, limitBy, limitCalls } from './rate-limits.ts';

const { db } = await testDatabase();

beforeEach(async () => {
  await sql`truncate rate_counts`.execute(db);
});

/** One of several web processes, with a limit of 6 calls per minute and an exact one of 2. */
async function aProcess({ processes = 2, database = db } = {}) {
  const app = Fastify();
  app.setErrorHandler(sendError);
  app.addHook('onRequest', async (request) => {
    request.caller = { kind: 'nobody' };
  });
  const config = { ...readConfig({}), rateLimits: true, rateLimitPerMinute: 6 };
  const { countCall } = await limitCalls(app, { config, db: database, webProcesses: () => processes });
  app.get('/', { preHandler: countCall }, async () => 'ok');
  const guesses = limitBy(app, { name: 'guesses', max: 2, keyOf: addressOf, isExact: true });
  app.get('/guess', { preHandler: guesses }, async () => 'ok');
  onFileEnd(() => app.close());
  const call = async (path = '/') => {
    const { statusCode, headers } = await app.inject(path);
    return [statusCode, Number(headers['ratelimit-remaining'])];
  };
  return { call };
}

/** Waits until the database has this number of calls of the general limit. */
const untilShared = (calls: number) =>
  vi.waitFor(
    async () => {
      const { rows } = await sql`select calls from rate_counts`.execute(db);
      expect(rows).toEqual([{ calls }]);
    },
    { timeout: 20_000 },
  );

test('processes count the calls of a caller together', async () => {
  const [one, two] = [await aProcess(), await aProcess()];
  for (let calls = 1; calls <= 4; calls += 1) expect(await one.call()).toEqual([200, 6 - calls]);
  await untilShared(4);
  expect((await two.call())[0]).toBe(200);
  await untilShared(5);
  await vi.waitFor(async () => expect(await two.call()).toEqual([429, 0]), { timeout: 20_000 });
  await vi.waitFor(async () => expect(await one.call()).toEqual([429, 0]), { timeout: 20_000 });
});

test('an exact limit accepts no call too many, whichever processes receive the calls', async () => {
  const processes = await Promise.all([aProcess(), aProcess(), aProcess()]);
  const answers = await Promise.all(processes.flatMap(({ call }) => [call('/guess'), call('/guess')]));
  const statuses = answers.map(([status]) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(2);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
});

test('a window of the database ends for every process', async () => {
  const [one, two] = [await aProcess(), await aProcess()];
  for (let i = 0; i < 2; i += 1) expect((await one.call('/guess'))[0]).toBe(200);
  expect((await two.call('/guess'))[0]).toBe(429);
  await sql`update rate_counts set ends_at = now()`.execute(db);
  expect(await two.call('/guess')).toEqual([200, 1]);
});

test('a single process does not write its counts', async () => {
  const { call } = await aProcess({ processes: 1 });
  for (let calls = 1; calls <= 6; calls += 1) expect(await call()).toEqual([200, 6 - calls]);
  expect(await call()).toEqual([429, 0]);
  expect((await sql`select from rate_counts`.execute(db)).rows).toEqual([]);
});
