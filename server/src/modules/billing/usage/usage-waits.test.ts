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
import { UsageLeader } from './usage-leader.ts';

/* Tests that a waiting window does not block other users, and that no window is lost. */

const { url } = await testDatabase();
const pool = createPool(url);
const db = openDatabase(pool);
onFileEnd(() => db.destroy());
const clock = fakeClock();
const services = { db, pool, log: pino({ level: 'silent' }), clock } as unknown as Services;
afterEach(() => vi.restoreAllMocks());

const query = pool.query.bind(pool) as unknown as (asked: object) => Promise<unknown>;

/** Delays the pool's queries with this name until `before` resolves. */
function delay(name: string, before: () => Promise<unknown>): void {
  vi.spyOn(pool, 'query').mockImplementation((async (asked: { name?: string }) => {
    if (asked.name === name) await before();
    return query(asked);
  }) as never);
}

async function use(leader: UsageLeader, userId: string): Promise<void> {
  const place = await leader.reserve({
    userId,
    keyId: null,
    use: 'llm_inference',
    source: 'model:crumb',
    description: 'Tokens of crumb',
    references: {},
    unitPrices: [1n],
    priceMicro: 100n,
  });
  place.settle({ id: randomUUID(), at: clock.now(), amountMicro: 10n, quantities: {} });
}

const addUsers = (count: number) =>
  Promise.all(Array.from({ length: count }, () => insertTestUser(db, { grantMicro: 1_000_000n })));

test('renews the lease while a close waits', async () => {
  const [userId = ''] = await addUsers(1);
  const leader = new UsageLeader(services);
  await use(leader, userId);
  const { promise: mayClose, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: isClosing, resolve: closing } = Promise.withResolvers<void>();
  delay('usage_close', () => {
    closing();
    return mayClose;
  });
  leader.start();
  clock.advance({ seconds: 61 });
  await isClosing;
  await sql`update usage_leaders set lease_until = now() + interval '12 seconds'`.execute(db);
  await expect
    .poll(async () => {
      const { rows } = await sql`
        select from usage_leaders where lease_until > now() + interval '20 seconds'`.execute(db);
      return rows.length;
    })
    .toBe(1);
  goOn();
  await leader.close();
  expect(await getUserTotals(db, userId)).toMatchObject({ balance: 999_990n, held: 0n });
});

test('windows of users with locked accounts do not keep other windows open, and are closed later', async () => {
  const [locked = '', ...others] = await addUsers(12);
  const leader = new UsageLeader(services);
  for (const userId of [locked, ...others]) await use(leader, userId);
  const held = async (userId: string) => (await getUserTotals(db, userId)).held;
  clock.advance({ seconds: 61 });
  await db.transaction().execute(async (tx) => {
    await sql`select from ledger_accounts where id = ${`user:${locked}`} for update`.execute(tx);
    // This returns although the account is still locked.
    await leader.look();
    expect(await held(locked)).toBeGreaterThan(0n);
    expect(await Promise.all(others.map(held))).toEqual(others.map(() => 0n));
  });
  await leader.look();
  expect(await getUserTotals(db, locked)).toMatchObject({ balance: 999_990n, held: 0n });
  await leader.close();
});

test("a user short of credit does not wait for other users' windows to close", async () => {
  const [locked = '', short = ''] = await addUsers(2);
  const leader = new UsageLeader(services);
  for (const userId of [locked, short]) await use(leader, userId);
  const order: string[] = [];
  await db.transaction().execute(async (tx) => {
    await sql`select from ledger_accounts where id = ${`user:${locked}`} for update`.execute(tx);
    const blocked = leader.closeIdle(locked).then(() => order.push('locked'));
    await leader.closeIdle(short).then(() => order.push('short'));
    await blocked;
  });
  expect(order).toEqual(['short', 'locked']);
  await leader.close();
});

test('a user short of credit does not wait while other users keep using their windows', async () => {
  const [busy = '', short = ''] = await addUsers(2);
  const leader = new UsageLeader(services);
  for (const userId of [busy, short]) await use(leader, userId);
  let isBusy = true;
  let writes = 0;
  delay('usage_write', async () => {
    writes += 1;
    if (isBusy) await use(leader, busy);
  });
  let isClosed = false;
  const closed = leader.closeIdle(short).finally(() => {
    isClosed = true;
  });
  // Also ends once closed: an abandoned wait would advance the fake timers of the worker's next files.
  const first = await Promise.race([closed, vi.waitUntil(() => isClosed || writes >= 20, { interval: 1 })]);
  isBusy = false;
  expect(first).toBe(1);
  await leader.close();
  expect((await getUserTotals(db, short)).balance).toBe(999_990n);
});
