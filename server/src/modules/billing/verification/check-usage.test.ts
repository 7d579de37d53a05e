import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../platform/clock.ts';
import { type TestDatabase, testDatabase } from '../../../testing/test-database.ts';
import { expireHolds } from '../ledger/holds/holds.ts';
import { insertTestKey, insertTestUser } from '../testing/test-user.ts';
import { UsageLeader } from '../usage/usage-leader.ts';
import { findWindow } from '../usage/usage-queries.ts';
import { sealTransfers } from './chain.ts';
import { verifyLedger } from './verify-ledger.ts';

type Books = TestDatabase & { closed: string; open: string };

/** A ledger with a closed and an open usage window. */
async function usedBooks(): Promise<Books> {
  const database = await testDatabase();
  const userId = await insertTestUser(database.db, { grantMicro: 10_000n });
  const leader = new UsageLeader({ ...database, log: pino({ level: 'silent' }), clock: systemClock });
  const keyId = await insertTestKey(database.db, { userId, budgetMicro: null });
  const use = async (source: string): Promise<string> => {
    const usage = {
      ...{ userId, keyId, use: 'llm_inference' as const, source, description: 'Tokens', references: {} },
      ...{ unitPrices: [1n], priceMicro: 100n },
    };
    const places = [await leader.reserve(usage), await leader.reserve(usage)];
    for (const { settle } of places)
      settle({ id: randomUUID(), at: new Date(), amountMicro: 30n, quantities: { completion_tokens: 3 } });
    const windowId = places[0]?.windowId ?? '';
    const asked = { windowId, userId };
    await expect.poll(async () => (await findWindow(database.db, asked))?.events).toBe(2n);
    return windowId;
  };
  const closed = await use('model:crumb');
  await leader.closeIdle();
  const open = await use('model:crust');
  await sealTransfers(database.db);
  return { ...database, closed, open };
}

/** Simulates a superuser, who bypasses triggers and foreign keys. */
const tamper = ({ db }: Books, statement: string) =>
  db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql.raw(statement).execute(tx);
  });

const failed = async ({ db }: Books) =>
  (await verifyLedger(db)).checks.filter(({ ok }) => !ok).map(({ name }) => name);

const usageDetail = async ({ db }: Books) =>
  (await verifyLedger(db)).checks.find(({ name }) => name === 'usage')?.detail;

describe('the proof of usage windows', () => {
  test('accepts an untouched ledger and reports the number of windows', async () => {
    const books = await usedBooks();
    expect(await usageDetail(books)).toMatch(/^All 2 usage windows/);
    expect(await failed(books)).toEqual([]);
  });

  test.each<[string, (books: Books) => string]>([
    ['an answer that costs more', ({ closed }) => change(closed, 'amount_micro = amount_micro + 1')],
    ['an answer with another time', ({ closed }) => change(closed, "at = at + interval '1 microsecond'")],
    [
      'an answer with higher usage',
      ({ closed }) => change(closed, `quantities = '{"completion_tokens": 4}'`),
    ],
    [
      'an answer whose usage is not a number',
      ({ closed }) => change(closed, `quantities = '{"completion_tokens": "x"}'`),
    ],
    ['a missing answer', ({ closed }) => `delete from usage_events where window_id = '${closed}' and n = 2`],
    ['a changed answer of an open window', ({ open }) => change(open, 'amount_micro = 0')],
    [
      'an answer that moved to another window',
      ({ closed, open }) => change(open, `window_id = '${closed}', n = 3`),
    ],
    [
      'an answer of a day before its window',
      ({ closed }) =>
        `select usage_prepare_day((select min(day) from usage_events) - 1); ${change(closed, 'day = day - 1')}`,
    ],
    ['sums of quantities', ({ closed }) => window(closed, `quantities = '{"completion_tokens": 7}'`)],
    ['a digest', ({ closed }) => window(closed, "digest = sha256('x')")],
    ['the API key', ({ closed }) => window(closed, 'key_id = null')],
    ['a reopened window', ({ closed }) => window(closed, 'closed_at = null')],
    ['a missing window', ({ closed }) => `delete from usage_windows where id = '${closed}'`],
  ])('finds %s', async (_what, statement) => {
    const books = await usedBooks();
    await tamper(books, statement(books));
    expect(await failed(books)).toEqual(['usage']);
  });

  test('reports usage that was not charged because holds expired, which is not an error', async () => {
    const books = await usedBooks();
    const { closed, open } = books;
    await books.db.transaction().execute((tx) => expireHolds(tx, { now: new Date('2100-01-01'), limit: 10 }));
    // A window that is still open has nothing uncharged.
    expect(await usageDetail(books)).toMatch(/^All 2 usage windows charge .* digest$/);
    await tamper(books, window(open, 'closed_at = now()'));
    expect(await usageDetail(books)).toMatch(
      /^All 2 .*, except that 1 of them had holds that ran out or did not cover it: 0\.00006 BGL were not charged$/,
    );
    expect(await failed(books)).toEqual([]);
    await tamper(books, window(closed, 'used_micro = 0'));
    expect(await failed(books)).toEqual(['usage']);
  });

  test('finds answers without a window', async () => {
    const books = await usedBooks();
    await tamper(books, change(books.open, `window_id = '${randomUUID()}'`));
    await tamper(
      books,
      window(
        books.open,
        `events = 1, used_micro = 30, quantities = '{"completion_tokens": 3}',
      digest = (select usage_digest(e) from usage_events e where window_id = '${books.open}')`,
      ),
    );
    expect(await failed(books)).toEqual(['usage']);
  });

  test('finds an event added to a window on a day outside of it', async () => {
    const books = await usedBooks();
    await tamper(
      books,
      `select usage_prepare_day((select min(day) from usage_events) - 1);
      insert into usage_events
      select day - 1, window_id, 3, id, at, amount_micro, quantities from usage_events
      where window_id = '${books.closed}' and n = 2`,
    );
    expect(await failed(books)).toEqual(['usage']);
  });
});

const change = (windowId: string, values: string) =>
  `update usage_events set ${values} where window_id = '${windowId}' and n = 2`;
const window = (windowId: string, values: string) =>
  `update usage_windows set ${values} where id = '${windowId}'`;
