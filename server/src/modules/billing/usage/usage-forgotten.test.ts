import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import { createPool, openDatabase } from '../../../platform/db/database.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { getUserTotals } from '../queries.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import { UsageLeader } from './usage-leader.ts';

/*
 * Tests a database whose newest writes are lost, as after a failover to a replica that was slightly behind.
 */

const { url } = await testDatabase();
const pool = createPool(url);
const db = openDatabase(pool);
onFileEnd(() => db.destroy());
const clock = fakeClock();
const log = pino({ level: 'silent' });
const services = { db, pool, log, clock } as unknown as Services;
afterEach(() => vi.restoreAllMocks());

const newUser = () => insertTestUser(db, { grantMicro: 10_000n });

async function use(leader: UsageLeader, userId: string, amountMicro = 10n): Promise<string> {
  const { windowId, settle } = await leader.reserve({
    ...{ userId, keyId: null, use: 'llm_inference' as const, source: 'model:crumb' },
    ...{ description: 'Tokens of crumb', references: {}, unitPrices: [1n], priceMicro: 100n },
  });
  settle({ id: randomUUID(), at: clock.now(), amountMicro, quantities: { completion_tokens: 1 } });
  return windowId;
}

const findRow = (id: string) =>
  db.selectFrom('usage_windows').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
const untilWritten = async (id: string, events: bigint) => {
  await expect.poll(async () => (await findRow(id)).events).toBe(events);
};

async function proveUsage(): Promise<string | undefined> {
  await sealTransfers(db);
  const { checks } = await verifyLedger(db);
  expect(checks.filter(({ ok }) => !ok)).toEqual([]);
  return checks.find(({ name }) => name === 'usage')?.detail;
}

test('closes a window whose last answer was lost, charges its other answers, and does not block other windows', async () => {
  const leader = new UsageLeader(services);
  const [ada, bob] = [await newUser(), await newUser()];
  const torn = await use(leader, ada);
  await untilWritten(torn, 1n);
  const before = await findRow(torn);
  await use(leader, ada);
  const whole = await use(leader, bob);
  await Promise.all([untilWritten(torn, 2n), untilWritten(whole, 1n)]);
  await sql`delete from usage_events where window_id = ${torn} and n = 2`.execute(db);
  const { events, used_micro, digest } = before;
  const quantities = JSON.stringify(before.quantities);
  await db
    .updateTable('usage_windows')
    .set({ events, used_micro, quantities, digest })
    .where('id', '=', torn)
    .execute();

  const failed = vi.spyOn(log, 'error');
  await Promise.all([use(leader, ada), use(leader, bob)]);
  await untilWritten(whole, 2n);
  expect(failed.mock.calls).toMatchObject([[{ window_id: torn, missing: 2 }, expect.any(String)]]);
  await leader.look();
  expect((await findRow(torn)).closed_at).not.toBeNull();
  expect(await getUserTotals(db, ada)).toMatchObject({ balance: 9_990n, held: 0n });

  expect(await use(leader, ada)).not.toBe(torn);
  await leader.close();
  expect((await getUserTotals(db, ada)).balance).toBe(9_980n);
  expect((await getUserTotals(db, bob)).balance).toBe(9_980n);
  await proveUsage();
});

test("charges at most the remaining hold if the growth of a window's hold was lost", async () => {
  const leader = new UsageLeader(services);
  const ada = await newUser();
  const windowId = await use(leader, ada, 100n);
  const { hold_id: holdId } = await findRow(windowId);
  const { held } = await getUserTotals(db, ada);
  for (let count = 0; count < 7; count += 1) await use(leader, ada, 100n);
  const grown = (await getUserTotals(db, ada)).held;
  expect(grown).toBeGreaterThan(held);
  await untilWritten(windowId, 8n);
  await sql`update ledger_holds set amount = ${held} where id = ${holdId}`.execute(db);
  await sql`
    update ledger_accounts set debits_pending = debits_pending - ${grown - held}::bigint
    where id = ${`user:${ada}`}`.execute(db);

  const failed = vi.spyOn(log, 'error');
  await leader.close();
  expect(failed.mock.calls).toMatchObject([
    [{ window_id: windowId, uncharged: '0.0004' }, expect.any(String)],
  ]);
  expect((await findRow(windowId)).closed_at).not.toBeNull();
  expect(await getUserTotals(db, ada)).toMatchObject({ balance: 10_000n - held, held: 0n });
  expect(await proveUsage()).toMatch(/except that 1 of them .*: 0\.0004 BGL were not charged$/);
});

test('a window that the database rejects does not block others', async () => {
  const leader = new UsageLeader(services);
  const [ada, bob] = [await newUser(), await newUser()];
  const refused = await use(leader, ada);
  await untilWritten(refused, 1n);
  await pool.query(`
    create function refuse_window() returns trigger language plpgsql as $$ begin raise 'not this one'; end $$;
    create trigger refuse_window before insert on usage_events for each row
      when (new.window_id = '${refused}') execute function refuse_window()`);
  const failed = vi.spyOn(log, 'error');
  await use(leader, ada);
  const whole = await use(leader, bob);
  await untilWritten(whole, 1n);
  expect((await findRow(refused)).events).toBe(1n);
  expect(failed.mock.calls[0]).toMatchObject([{ window_id: refused }, expect.any(String)]);

  await pool.query('drop function refuse_window cascade');
  await untilWritten(refused, 2n);
  await leader.close();
  expect((await getUserTotals(db, ada)).balance).toBe(9_980n);
  expect((await getUserTotals(db, bob)).balance).toBe(9_990n);
  await proveUsage();
});
