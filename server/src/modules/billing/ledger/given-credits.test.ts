import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type TestDatabase, testDatabase } from '../../../testing/test-database.ts';
import { findNextExpiry, getUserTotals } from '../queries.ts';
import { buyForTest, insertTestUser } from '../testing/test-user.ts';
import { sealTransfers } from '../verification/chain.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import { GRANTS_ACCOUNT, userAccount } from './accounts.ts';
import { chargeBack, collectDebts, expireGiven } from './given-credits.ts';
import { hold, release, settle } from './holds/holds.ts';
import { assertSent, sendAll } from './sends.ts';
import { transfer } from './transfer.ts';

let db: Database;
let pool: TestDatabase['pool'];
beforeAll(async () => {
  ({ db, pool } = await testDatabase());
});

const move = <T>(step: (tx: Transaction) => Promise<T>): Promise<T> => db.transaction().execute(step);
const totals = (userId: string) => getUserTotals(db, userId);
const day = (number: number) => new Date(Date.UTC(2030, 0, number));

const grant = (userId: string, amountMicro: bigint, expiresAt: Date | null = null) =>
  move((tx) =>
    transfer(tx, {
      debitAccountId: GRANTS_ACCOUNT,
      creditAccountId: userAccount(userId),
      amountMicro,
      kind: 'grant',
      description: 'Promotion',
      idempotencyKey: null,
      given: { expiresAt },
    }),
  );
const send = (from: string, to: string, amountMicro: bigint) =>
  move((tx) =>
    transfer(tx, {
      debitAccountId: userAccount(from),
      creditAccountId: userAccount(to),
      amountMicro,
      kind: 'transfer',
      description: 'Bagels',
      idempotencyKey: null,
    }),
  );
const holdFor = (userId: string, amountMicro: bigint) =>
  move((tx) =>
    hold(tx, {
      userId,
      amountMicro,
      kind: 'fine_tuning',
      description: 'Fine-tune',
      expiresAt: new Date('2100-01-01'),
      idempotencyKey: randomUUID(),
    }),
  );
const spend = async (userId: string, amountMicro: bigint) => {
  const { holdId } = await holdFor(userId, amountMicro);
  await move((tx) => settle(tx, { holdId, amountMicro }));
};

describe('given credits', () => {
  test('are spent first', async () => {
    const ada = await insertTestUser(db, { grantMicro: 10n, boughtMicro: 5n });
    await spend(ada, 8n);
    expect(await totals(ada)).toEqual({ balance: 7n, held: 0n, given: 2n, owed: 0n });
    await spend(ada, 3n);
    expect(await totals(ada)).toEqual({ balance: 4n, held: 0n, given: 0n, owed: 0n });
  });

  test('cannot be sent, and the error contains the sendable amount', async () => {
    const [ada, bob] = [
      await insertTestUser(db, { grantMicro: 10_000_000n, boughtMicro: 5_000_000n }),
      await insertTestUser(db),
    ];
    await expect(send(ada, bob, 5_000_001n)).rejects.toMatchObject({
      code: 'not_sendable',
      publicMessage: 'Promotional credits can be spent but not sent. You can send up to 5 BGL.',
      data: { required_amount: '5.000001', available_amount: '5' },
    });
    await send(ada, bob, 5_000_000n);
    expect(await totals(ada)).toEqual({ balance: 10_000_000n, held: 0n, given: 10_000_000n, owed: 0n });
    expect(await totals(bob)).toEqual({ balance: 5_000_000n, held: 0n, given: 0n, owed: 0n });
  });

  test('remain unsendable, but credits received from another user count as bought and can be sent on', async () => {
    const [ada, bob, eve] = [
      await insertTestUser(db, { boughtMicro: 5n }),
      await insertTestUser(db, { grantMicro: 10n }),
      await insertTestUser(db),
    ];
    await send(ada, bob, 5n);
    await send(bob, eve, 5n);
    await expect(send(bob, eve, 1n)).rejects.toMatchObject({ code: 'not_sendable' });
  });

  test('cover holds first, before bought credits', async () => {
    const [ada, bob] = [
      await insertTestUser(db, { grantMicro: 10n, boughtMicro: 5n }),
      await insertTestUser(db),
    ];
    await holdFor(ada, 12n);
    await expect(send(ada, bob, 4n)).rejects.toMatchObject({ code: 'insufficient_funds' });
    await send(ada, bob, 3n);
    expect(await totals(ada)).toEqual({ balance: 12n, held: 12n, given: 10n, owed: 0n });
  });
});

describe('the expiry of given credits', () => {
  test('withdraws the rest of expired credits; the first to expire are spent first', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 5n });
    await grant(ada, 10n, day(3));
    await grant(ada, 10n, day(2));
    await grant(ada, 10n);
    expect(await findNextExpiry(db, ada)).toEqual({ amount: 10n, at: day(2) });
    await spend(ada, 4n);
    expect(await findNextExpiry(db, ada)).toEqual({ amount: 6n, at: day(2) });

    const expire = (now: Date) => move((tx) => expireGiven(tx, { now, limit: 10 }));
    expect(await expire(day(1))).toEqual([]);
    expect(await expire(day(2))).toEqual([{ accountId: userAccount(ada), amountMicro: 6n }]);
    expect(await expire(day(2))).toEqual([]);
    expect(await expire(day(9))).toEqual([{ accountId: userAccount(ada), amountMicro: 10n }]);
    expect(await totals(ada)).toEqual({ balance: 15n, held: 0n, given: 10n, owed: 0n });
    expect(await findNextExpiry(db, ada)).toBeUndefined();
  });

  test('withdraws held credits only after the hold has ended, even if the user also has bought credits', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 20n }), await insertTestUser(db)];
    await grant(ada, 10n, day(1));
    const { holdId } = await holdFor(ada, 7n);
    const expire = () => move((tx) => expireGiven(tx, { now: day(2), limit: 10 }));
    expect(await expire()).toEqual([{ accountId: userAccount(ada), amountMicro: 3n }]);
    expect(await expire()).toEqual([]);
    await send(ada, bob, 20n);
    await move((tx) => settle(tx, { holdId, amountMicro: 5n }));
    expect(await expire()).toEqual([{ accountId: userAccount(ada), amountMicro: 2n }]);
    expect(await totals(ada)).toEqual({ balance: 0n, held: 0n, given: 0n, owed: 0n });
  });
});

describe('a chargeback', () => {
  const take = (userId: string, amountMicro: bigint, idempotencyKey: string | null = null) =>
    move((tx) => chargeBack(tx, { userId, amountMicro, description: 'Chargeback', idempotencyKey }));
  const owedBy = async (userId: string) => {
    const { rows } = await sql<{ owed: bigint }>`
      select coalesce(sum(case when debit_account_id = ${`receivable:${userId}`} then amount else -amount end), 0)::bigint
        as owed
      from ledger_transfers where ${`receivable:${userId}`} in (debit_account_id, credit_account_id)`.execute(
      db,
    );
    return rows[0]?.owed;
  };

  test('collects bought credits and leaves the rest as a debt', async () => {
    const ada = await insertTestUser(db, { grantMicro: 10n, boughtMicro: 5n });
    expect(await take(ada, 20n)).toMatchObject({ collectedMicro: 5n });
    expect(await totals(ada)).toEqual({ balance: 10n, held: 0n, given: 10n, owed: 15n });
    expect(await owedBy(ada)).toBe(15n);
  });

  test('is made once per key', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 5n });
    const key = randomUUID();
    const { transferId } = await take(ada, 3n, key);
    expect(await take(ada, 3n, key)).toEqual({
      transferId,
      collectedMicro: 0n,
      owedMicro: 0n,
      isReplayed: true,
    });
    await expect(take(ada, 4n, key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect((await totals(ada)).balance).toBe(2n);
  });

  test('is collected from later credits and released holds, until the debt is paid', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 5n });
    const held = await holdFor(ada, 4n);
    expect(await take(ada, 10n)).toMatchObject({ collectedMicro: 1n });
    const collect = () => move((tx) => collectDebts(tx, { limit: 10 }));
    const fromAda = async () => (await collect()).filter(({ userId }) => userId === ada);
    expect(await fromAda()).toEqual([]);
    await move((tx) => release(tx, held));
    expect(await fromAda()).toEqual([{ userId: ada, amountMicro: 4n }]);
    await buyForTest(db, ada, 100n);
    expect(await fromAda()).toEqual([{ userId: ada, amountMicro: 5n }]);
    expect(await fromAda()).toEqual([]);
    expect(await owedBy(ada)).toBe(0n);
    expect((await totals(ada)).balance).toBe(95n);
  });

  test('allows sending only credits beyond the debt', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 5_000_000n }), await insertTestUser(db)];
    const held = await holdFor(ada, 5_000_000n);
    await take(ada, 3_000_000n);
    await move((tx) => release(tx, held));
    const gathered = async (amountMicro: bigint) => {
      const asked = { senderId: ada, recipient: bob, amountMicro, idempotencyKey: null, keyId: null };
      const [answer] = await sendAll({ db, pool }, [asked], { wait: true });
      if (answer) assertSent(answer, asked);
    };
    const refusal = {
      code: 'not_sendable',
      publicMessage: 'A payment was reversed and is still owed. You can send up to 2 BGL.',
    };
    await expect(send(ada, bob, 2_000_001n)).rejects.toMatchObject(refusal);
    await expect(gathered(2_000_001n)).rejects.toMatchObject(refusal);
    await gathered(1_000_000n);
    await send(ada, bob, 1_000_000n);
    await expect(gathered(1n)).rejects.toMatchObject({ code: 'not_sendable' });
    await move((tx) => collectDebts(tx, { limit: 10 }));
    expect(await totals(ada)).toEqual({ balance: 0n, held: 0n, given: 0n, owed: 0n });
    expect(await owedBy(ada)).toBe(0n);
  });

  test('collects at most the debt in concurrent calls', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 100n });
    await Promise.all([
      ...Array.from({ length: 8 }, () => take(ada, 5n)),
      ...Array.from({ length: 8 }, () => move((tx) => collectDebts(tx, { limit: 10 }))),
    ]);
    await move((tx) => collectDebts(tx, { limit: 10 }));
    expect((await totals(ada)).balance).toBe(60n);
    expect(await owedBy(ada)).toBe(0n);
  });
});

test('leaves a correct ledger after all tests, also when sealed', async () => {
  await sealTransfers(db);
  expect((await verifyLedger(db)).checks.filter((check) => !check.ok)).toEqual([]);
});

test.each([
  [
    'more given credits than received',
    "update ledger_accounts set given = given + 1 where kind = 'user'",
    ['given', 'portions'],
  ],
  ['a portion that grew', 'update ledger_given set remaining = remaining - 1', ['given']],
  [
    'a charge with another given part',
    'update ledger_transfers set given = 1 where hold_id is not null',
    ['portions', 'chain'],
  ],
])('verification finds %s', async (_what, statement, checks) => {
  const { db: own } = await testDatabase();
  const ada = await insertTestUser(own, { grantMicro: 10n, boughtMicro: 10n });
  const { holdId } = await own.transaction().execute((tx) =>
    hold(tx, {
      userId: ada,
      amountMicro: 5n,
      kind: 'fine_tuning',
      description: 'Fine-tune',
      expiresAt: new Date('2100-01-01'),
      idempotencyKey: 'one',
    }),
  );
  await own.transaction().execute((tx) => settle(tx, { holdId, amountMicro: 5n }));
  await sealTransfers(own);
  await own.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql.raw(statement).execute(tx);
  });
  const { checks: found } = await verifyLedger(own);
  expect(found.filter((check) => !check.ok).map(({ name }) => name)).toEqual(checks);
});
