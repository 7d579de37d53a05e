import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { describe, expect, test, vi } from 'vitest';
import type { Services } from '../../../platform/context.ts';
import { createPool, openDatabase } from '../../../platform/db/database.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { closeLostWindowsJob } from '../jobs/usage-jobs.ts';
import { getUserTotals } from '../queries.ts';
import { insertTestKey, insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import type { Usage } from './credit.ts';
import { UsageLeader } from './usage-leader.ts';

const { url } = await testDatabase();
const pool = createPool(url);
const db = openDatabase(pool);
onFileEnd(() => db.destroy());
const clock = fakeClock();
const log = pino({ level: 'silent' });
const services = { db, pool, log, clock } as unknown as Services;
const lead = () => new UsageLeader(services);

const PRICE = 100n;

async function usageOf(grantMicro: bigint, more: Partial<Usage> = {}): Promise<Usage> {
  const userId = more.userId ?? (await insertTestUser(db, { grantMicro }));
  return {
    userId,
    keyId: null,
    use: 'llm_inference',
    source: 'model:crumb',
    description: 'Tokens of crumb',
    references: { asset_name: 'crumb' },
    unitPrices: [1n],
    priceMicro: PRICE,
    ...more,
  };
}

const used = (amountMicro: bigint, tokens = 1) => ({
  id: randomUUID(),
  at: clock.now(),
  amountMicro,
  quantities: { completion_tokens: tokens },
});

const chargesOf = (userId: string) =>
  db
    .selectFrom('ledger_transfers')
    .select(['amount', 'refs'])
    .where('debit_account_id', '=', `user:${userId}`)
    .where('kind', '=', 'charge')
    .execute();

const runLost = () => closeLostWindowsJob.run(services, {}, new AbortController().signal);
const endLeases = () => sql`update usage_leaders set lease_until = now() - interval '1 second'`.execute(db);

async function expectSoundBooks(): Promise<void> {
  await sealTransfers(db);
  expect((await verifyLedger(db)).checks.filter(({ ok }) => !ok)).toEqual([]);
}

describe('a usage window', () => {
  test('charges all its answers in one transfer, with their count, sums and digest sealed', async () => {
    const leader = lead();
    const usage = await usageOf(1_000_000n);
    for (let count = 0; count < 7; count += 1) (await leader.reserve(usage)).settle(used(10n, 3));
    (await leader.reserve(usage)).settle(null);
    expect((await getUserTotals(db, usage.userId)).balance).toBe(1_000_000n);
    expect(await leader.closeIdle()).toBe(1);
    const [charge, ...others] = await chargesOf(usage.userId);
    expect(others).toEqual([]);
    expect(charge?.amount).toBe(70n);
    expect(charge?.refs).toMatchObject({
      asset_name: 'crumb',
      events: '7',
      completion_tokens: '21',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await getUserTotals(db, usage.userId)).toMatchObject({ balance: 999_930n, held: 0n });
    await expectSoundBooks();
  });

  test('queries the database when a window opens, but not for later answers', async () => {
    const leader = lead();
    const usage = await usageOf(1_000_000n, { priceMicro: 10_000n });
    (await leader.reserve(usage)).settle(null);
    const query = vi.spyOn(pool, 'query');
    for (let count = 0; count < 50; count += 1) (await leader.reserve(usage)).settle(null);
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
    await leader.closeIdle();
    expect(await chargesOf(usage.userId)).toEqual([]);
  });

  test('is shared by concurrent uses of a user, key and source, and grows with them', async () => {
    const leader = lead();
    const usage = await usageOf(1_000_000n);
    const places = await Promise.all(Array.from({ length: 40 }, () => leader.reserve(usage)));
    expect(new Set(places.map(({ windowId }) => windowId)).size).toBe(1);
    const other = await leader.reserve(await usageOf(0n, { userId: usage.userId, source: 'deployment:x' }));
    const ofKey = await leader.reserve(await usageOf(0n, { userId: usage.userId, keyId: randomUUID() }));
    expect(new Set([places[0]?.windowId, other.windowId, ofKey.windowId]).size).toBe(3);
    expect((await getUserTotals(db, usage.userId)).held).toBeGreaterThanOrEqual(42n * PRICE);
    for (const place of [...places, other, ofKey]) place.settle(used(PRICE));
    await leader.closeIdle();
    expect(await getUserTotals(db, usage.userId)).toMatchObject({
      balance: 1_000_000n - 42n * PRICE,
      held: 0n,
    });
  });

  test('allows spending the last credit and no more; idle windows release their holds', async () => {
    const leader = lead();
    const usage = await usageOf(3n * PRICE);
    const idle = await leader.reserve(await usageOf(0n, { userId: usage.userId, source: 'idle' }));
    idle.settle(null);
    const places = await Promise.all(Array.from({ length: 3 }, () => leader.reserve(usage)));
    await expect(leader.reserve(usage)).rejects.toMatchObject({ code: 'insufficient_funds' });
    for (const place of places) place.settle(used(PRICE));
    await expect(leader.reserve(usage)).rejects.toMatchObject({ code: 'insufficient_funds' });
    await leader.closeIdle();
    expect(await getUserTotals(db, usage.userId)).toMatchObject({ balance: 0n, held: 0n });
  });

  test('stays within the budget of its key', async () => {
    const leader = lead();
    const userId = await insertTestUser(db, { grantMicro: 1_000_000n });
    const keyId = await insertTestKey(db, { userId, budgetMicro: 2n * PRICE + 50n });
    const usage = await usageOf(0n, { userId, keyId });
    const places = [await leader.reserve(usage), await leader.reserve(usage)];
    await expect(leader.reserve(usage)).rejects.toMatchObject({ code: 'budget_exceeded' });
    for (const place of places) place.settle(used(60n));
    (await leader.reserve(usage)).settle(used(PRICE));
    await expect(leader.reserve(usage)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await leader.closeIdle();
    const key = await db.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirstOrThrow();
    expect([key.spent_micro, key.held_micro]).toEqual([220n, 0n]);
    expect((await chargesOf(userId))[0]?.refs).toMatchObject({ key_id: keyId });
  });

  test('lets an open reservation grow up to the available credit, even while its window is ending', async () => {
    const leader = lead();
    const usage = await usageOf(10n * PRICE);
    const place = await leader.reserve(usage);
    expect(await leader.closeIdle()).toBe(0);
    clock.advance({ minutes: 61 });
    await leader.look();
    await place.extend(7n * PRICE);
    await place.extend(2n * PRICE);
    expect(place.priceMicro).toBe(7n * PRICE);
    await expect(place.extend(11n * PRICE)).rejects.toMatchObject({ code: 'insufficient_funds' });
    expect(place.priceMicro).toBe(7n * PRICE);
    expect(() => place.settle(used(7n * PRICE + 1n))).toThrow('cannot be charged');
    expect((await getUserTotals(db, usage.userId)).held).toBeGreaterThanOrEqual(7n * PRICE);
  });

  test('charges a reservation that has grown', async () => {
    const leader = lead();
    const usage = await usageOf(10n * PRICE);
    const place = await leader.reserve(usage);
    await place.extend(9n * PRICE);
    place.settle(used(9n * PRICE));
    await leader.closeIdle();
    expect(await getUserTotals(db, usage.userId)).toMatchObject({ balance: PRICE, held: 0n });
    await expectSoundBooks();
  });

  test('rejects a second settlement', async () => {
    const leader = lead();
    const place = await leader.reserve(await usageOf(1_000n));
    place.settle(used(1n));
    expect(() => place.settle(used(1n))).toThrow('twice');
    await leader.close();
  });
});

test("an opening that waits for its user's account does not block other openings", async () => {
  const leader = lead();
  const [slow, quick] = [await usageOf(10_000n), await usageOf(10_000n)];
  (await leader.reserve(await usageOf(10_000n))).settle(null);
  let opening: Promise<unknown> = Promise.resolve();
  await db.transaction().execute(async (tx) => {
    await sql`select from ledger_accounts where id = ${`user:${slow.userId}`} for update`.execute(tx);
    opening = leader.reserve(slow);
    const other = await leader.reserve(quick);
    expect(other.windowId).toBeDefined();
    other.settle(null);
  });
  await opening;
  await leader.close();
});

describe('a process that has died', () => {
  test('has its windows closed by others, with its written usage', async () => {
    const leader = lead();
    const usage = await usageOf(10_000n);
    (await leader.reserve(usage)).settle(used(30n));
    await vi.waitFor(async () =>
      expect(
        await db.selectFrom('usage_windows').select('events').where('user_id', '=', usage.userId).execute(),
      ).toEqual([{ events: 1n }]),
    );
    await leader.reserve(usage);
    await runLost();
    expect((await getUserTotals(db, usage.userId)).held).toBeGreaterThan(0n);
    await endLeases();
    await runLost();
    expect(await getUserTotals(db, usage.userId)).toMatchObject({ balance: 9_970n, held: 0n });
    await expectSoundBooks();
  });

  test('writes nothing more into closed windows when it resumes, and opens new ones', async () => {
    const leader = lead();
    const usage = await usageOf(10_000n);
    const place = await leader.reserve(usage);
    await endLeases();
    await runLost();
    place.settle(used(30n));
    await leader.closeIdle();
    expect(await chargesOf(usage.userId)).toEqual([]);
    (await leader.reserve(usage)).settle(used(20n));
    await leader.close();
    expect((await chargesOf(usage.userId)).map(({ amount }) => amount)).toEqual([20n]);
    await expectSoundBooks();
  });
});

test('a batch is written once even if the acknowledgement of its commit is lost', async () => {
  const leader = lead();
  const usage = await usageOf(10_000n);
  const place = await leader.reserve(usage);
  const query = pool.query.bind(pool) as unknown as (asked: object) => Promise<unknown>;
  let isBroken = false;
  const broken = vi.spyOn(pool, 'query').mockImplementation((async (asked: { name?: string }) => {
    const answer = await query(asked);
    if (asked.name !== 'usage_write') return answer;
    broken.mockRestore();
    isBroken = true;
    throw new Error('the connection broke');
  }) as never);
  place.settle(used(30n));
  await vi.waitFor(() => expect(isBroken).toBe(true));
  (await leader.reserve(usage)).settle(used(12n));
  await leader.close();
  expect((await chargesOf(usage.userId)).map(({ amount }) => amount)).toEqual([42n]);
  await expectSoundBooks();
});

/** Replaces the pool's next query with this name by `handled`. */
function handleNext(name: string, handled: (ask: () => Promise<unknown>) => Promise<unknown>): void {
  const query = pool.query.bind(pool) as unknown as (asked: object) => Promise<unknown>;
  const spied = vi.spyOn(pool, 'query').mockImplementation((async (asked: { name?: string }) => {
    if (asked.name !== name) return query(asked);
    spied.mockRestore();
    return handled(() => query(asked));
  }) as never);
}

test('a failed opening does not affect the lease, and its window is closed once', async () => {
  const leader = lead();
  const usage = await usageOf(10_000n);
  handleNext('usage_open', () => Promise.reject(new Error('the database is away')));
  await expect(leader.reserve(usage)).rejects.toThrow('away');
  const warned = vi.spyOn(log, 'warn');
  const asked = vi.spyOn(pool, 'query');
  const closings = () =>
    asked.mock.calls.filter(([one]) => (one as { name?: string }).name === 'usage_close').length;
  await leader.look();
  expect(closings()).toBe(1);
  await leader.look();
  expect(closings()).toBe(1);
  expect(warned).not.toHaveBeenCalled();
  vi.restoreAllMocks();
  (await leader.reserve(usage)).settle(used(30n));
  await leader.close();
  expect((await chargesOf(usage.userId)).map(({ amount }) => amount)).toEqual([30n]);
});

test('if the response to an opening is lost, the next look releases its hold', async () => {
  const leader = lead();
  const usage = await usageOf(4n * PRICE);
  handleNext('usage_open', async (ask) => {
    await ask();
    throw new Error('the connection broke');
  });
  await expect(leader.reserve(usage)).rejects.toThrow('broke');
  expect((await getUserTotals(db, usage.userId)).held).toBe(4n * PRICE);
  await leader.look();
  expect((await getUserTotals(db, usage.userId)).held).toBe(0n);
  (await leader.reserve(usage)).settle(used(30n));
  await leader.close();
  expect((await chargesOf(usage.userId)).map(({ amount }) => amount)).toEqual([30n]);
  await expectSoundBooks();
});

test('an expired lease loses nothing in windows that no other process has closed', async () => {
  const leader = lead();
  const [before, during] = [await usageOf(10_000n), await usageOf(10_000n)];
  const place = await leader.reserve(before);
  handleNext('usage_open', async (ask) => {
    const answer = await ask();
    await endLeases();
    return answer;
  });
  (await leader.reserve(during)).settle(used(30n));
  place.settle(used(20n));
  leader.start();
  await expect
    .poll(async () => (await sql`select from usage_leaders where lease_until > now()`.execute(db)).rows)
    .toHaveLength(1);
  await runLost();
  await leader.close();
  expect((await chargesOf(before.userId)).map(({ amount }) => amount)).toEqual([20n]);
  expect((await chargesOf(during.userId)).map(({ amount }) => amount)).toEqual([30n]);
  await expectSoundBooks();
});

test('if others have closed its windows during a suspend, a process loses the answers it had not written, and charges later ones', async () => {
  const leader = lead();
  const usage = await usageOf(10_000n);
  const [written, lost, late] = [
    await leader.reserve(usage),
    await leader.reserve(usage),
    await leader.reserve(usage),
  ];
  written.settle(used(30n));
  await vi.waitFor(async () =>
    expect(
      await db.selectFrom('usage_windows').select('events').where('user_id', '=', usage.userId).execute(),
    ).toEqual([{ events: 1n }]),
  );
  await endLeases();
  await runLost();
  lost.settle(used(40n));
  const { windowId } = written;
  await vi.waitUntil(async () => {
    const next = await leader.reserve(usage);
    next.settle(null);
    return next.windowId !== windowId;
  });
  late.settle(used(50n));
  (await leader.reserve(usage)).settle(used(60n));
  await leader.close();
  const charges = (await chargesOf(usage.userId)).map(({ amount }) => Number(amount));
  expect(charges.toSorted((a, b) => a - b)).toEqual([30, 60]);
  expect(await getUserTotals(db, usage.userId)).toMatchObject({ balance: 9_910n, held: 0n });
  await expectSoundBooks();
});

test('a lost window that cannot be closed does not block other windows', async () => {
  const places = await Promise.all(
    [1, 2].map(async () => {
      const leader = lead();
      const { windowId, settle } = await leader.reserve(await usageOf(10_000n));
      settle(used(30n));
      return windowId;
    }),
  );
  const [first = '', second = ''] = places.sort();
  const closedAt = async (id: string) =>
    (await db.selectFrom('usage_windows').select('closed_at').where('id', '=', id).executeTakeFirstOrThrow())
      .closed_at;
  await vi.waitFor(async () => {
    const { rows } = await sql`
      select from usage_windows where id = any (${places}) and used_micro = 30`.execute(db);
    expect(rows).toHaveLength(2);
  });
  await endLeases();
  await db.transaction().execute(async (tx) => {
    await sql`select from usage_windows where id = ${first} for update`.execute(tx);
    await runLost();
  });
  expect(await closedAt(first)).toBeNull();
  expect(await closedAt(second)).not.toBeNull();

  await runLost();
  expect(await closedAt(first)).not.toBeNull();
  await expectSoundBooks();
});
