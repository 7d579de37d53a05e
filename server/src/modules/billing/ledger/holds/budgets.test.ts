import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { inTransaction } from '../../../../platform/db/in-transaction.ts';
import { testDatabase } from '../../../../testing/test-database.ts';
import { insertTestUser } from '../../testing/test-user.ts';
import { extendHold, growHold, hold, release, settle } from './holds.ts';

const { db } = await testDatabase();

type Period = 'day' | 'month' | 'total';

async function keyWith(budget: bigint, period: Period = 'total', userId?: string) {
  const owner = userId ?? (await insertTestUser(db, { grantMicro: 1_000_000n }));
  const { id } = await db
    .insertInto('api_keys')
    .values({
      user_id: owner,
      name: 'program',
      for_web_app: false,
      sha256: Buffer.from(randomUUID()),
      budget_micro: budget,
      budget_period: period,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return { id, userId: owner };
}

const take = (key: { id: string; userId: string }, amountMicro: bigint) =>
  inTransaction(db, (tx) =>
    hold(tx, {
      userId: key.userId,
      amountMicro,
      kind: 'fine_tuning',
      description: 'Run',
      references: { key_id: key.id },
      expiresAt: new Date(Date.now() + 3_600_000),
      idempotencyKey: randomUUID(),
    }),
  );

const counted = (key: { id: string }) =>
  db
    .selectFrom('api_keys')
    .select(['spent_micro as spent', 'held_micro as held'])
    .where('id', '=', key.id)
    .executeTakeFirstOrThrow();

describe('a budget', () => {
  test('counts open holds in full, and charges', async () => {
    const key = await keyWith(100n);
    const { holdId } = await take(key, 60n);
    expect(await counted(key)).toEqual({ spent: 0n, held: 60n });
    await inTransaction(db, (tx) => settle(tx, { holdId, amountMicro: 25n }));
    expect(await counted(key)).toEqual({ spent: 25n, held: 0n });
    const released = await take(key, 75n);
    await inTransaction(db, (tx) => release(tx, released));
    expect(await counted(key)).toEqual({ spent: 25n, held: 0n });
  });

  test("rejects a hold beyond it with the key's name, and leaves the transaction usable", async () => {
    const key = await keyWith(100n, 'day');
    const { holdId } = await take(key, 60n);
    const error = {
      code: 'budget_exceeded',
      status: 402,
      data: {
        required_amount: '0.000041',
        budget: {
          key_id: key.id,
          key_name: 'program',
          amount: '0.0001',
          period: 'day',
          renews_at: expect.stringMatching(/T00:00:00\.000Z$/),
        },
      },
    };
    await expect(take(key, 41n)).rejects.toMatchObject(error);
    await inTransaction(db, async (tx) => {
      const longer = { holdId, amountMicro: 101n };
      await expect(extendHold(tx, longer)).rejects.toMatchObject({ code: 'budget_exceeded' });
      await expect(growHold(tx, { holdId, byMicro: 41n })).rejects.toMatchObject({ code: 'budget_exceeded' });
      await growHold(tx, { holdId, byMicro: 40n });
    });
    expect(await counted(key)).toEqual({ spent: 0n, held: 100n });
  });

  test("does not limit the owner's other keys", async () => {
    const small = await keyWith(10n);
    const other = await keyWith(500n, 'total', small.userId);
    await expect(take(small, 11n)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await take(other, 500n);
  });

  test.each(['day', 'month'] as const)('resets every %s and preserves holds', async (period) => {
    const key = await keyWith(100n, period);
    const { holdId } = await take(key, 90n);
    await inTransaction(db, (tx) => settle(tx, { holdId, amountMicro: 90n }));
    await take(key, 10n);
    await expect(take(key, 1n)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await sql`update api_keys set counted_since = counted_since - ('1 ' || budget_period)::interval where id = ${key.id}`.execute(
      db,
    );
    await take(key, 90n);
    expect(await counted(key)).toEqual({ spent: 0n, held: 100n });
    await expect(take(key, 1n)).rejects.toMatchObject({ code: 'budget_exceeded' });
  });

  test('in total never resets', async () => {
    const key = await keyWith(100n);
    const { holdId } = await take(key, 90n);
    await inTransaction(db, (tx) => settle(tx, { holdId, amountMicro: 90n }));
    await sql`update api_keys set counted_since = counted_since - interval '5 years' where id = ${key.id}`.execute(
      db,
    );
    await expect(take(key, 11n)).rejects.toMatchObject({
      code: 'budget_exceeded',
      data: { budget: { renews_at: null } },
    });
  });

  test('is not exceeded by concurrent holds', async () => {
    const key = await keyWith(100n);
    const taken = await Promise.allSettled(Array.from({ length: 20 }, () => take(key, 30n)));
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(await counted(key)).toEqual({ spent: 0n, held: 90n });
  });
});

test('a charge records the key of its call', async () => {
  const key = await keyWith(100n);
  const { holdId } = await take(key, 60n);
  const { transferId } = await inTransaction(db, (tx) => settle(tx, { holdId, amountMicro: 25n }));
  const transfer = await db
    .selectFrom('ledger_transfers')
    .select('refs')
    .where('id', '=', transferId ?? '')
    .executeTakeFirstOrThrow();
  expect(transfer.refs).toMatchObject({ key_id: key.id });
});
