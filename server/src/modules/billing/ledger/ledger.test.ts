import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { testDatabase, untilWaiting } from '../../../testing/test-database.ts';
import { lockUserAccounts } from '../accounts.ts';
import { getUserTotals } from '../queries.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { verifyLedger } from '../verification/verify-ledger.ts';
import { userAccount } from './accounts.ts';
import { availableMicro } from './available-micro.ts';
import { expireHolds, extendHold, growHold, hold, release, settle } from './holds/holds.ts';
import { openUserAccount } from './open-user-account.ts';
import { transfer } from './transfer.ts';

let db: Database;
beforeAll(async () => {
  ({ db } = await testDatabase());
});

const move = <T>(step: (tx: Transaction) => Promise<T>): Promise<T> => db.transaction().execute(step);

const send = (from: string, to: string, amountMicro: bigint, idempotencyKey: string | null = null) =>
  move((tx) =>
    transfer(tx, {
      debitAccountId: userAccount(from),
      creditAccountId: userAccount(to),
      amountMicro,
      kind: 'transfer',
      description: 'Bagels',
      idempotencyKey,
    }),
  );

const holdFor = (userId: string, amountMicro: bigint, more: { key?: string; expiresAt?: Date } = {}) =>
  move((tx) =>
    hold(tx, {
      userId,
      amountMicro,
      kind: 'fine_tuning',
      description: 'Fine-tune',
      references: { run_id: 'r1' },
      expiresAt: more.expiresAt ?? new Date('2100-01-01'),
      idempotencyKey: more.key ?? randomUUID(),
    }),
  );

describe('accounts', () => {
  test('of several users are locked in the order of their ids, whatever the order of the call', async () => {
    const [first = '', last = ''] = [await insertTestUser(db), await insertTestUser(db)].toSorted();
    const { locking } = await move(async (tx) => {
      await lockUserAccounts(tx, [first]);
      const begun = move((other) => lockUserAccounts(other, [last, first]));
      await untilWaiting(db);
      // The other transaction waits for the first account, so the last one must still be unlocked.
      const { rows } = await sql`
        select from ledger_accounts where id = ${userAccount(last)} for update skip locked`.execute(tx);
      expect(rows).toHaveLength(1);
      return { locking: begun };
    });
    await locking;
  });

  test('a new account starts with the grant, and reopening it grants nothing more', async () => {
    const userId = await insertTestUser(db, { grantMicro: 125_000_000n });
    await move((tx) => openUserAccount(tx, { userId, grantMicro: 200_000_000n }));
    expect(await getUserTotals(db, userId)).toEqual({
      balance: 125_000_000n,
      held: 0n,
      given: 125_000_000n,
      owed: 0n,
    });
  });

  test('a grant of zero opens an empty account', async () => {
    const userId = await insertTestUser(db);
    expect(await availableMicro(db, userId)).toBe(0n);
  });
});

describe('transfer', () => {
  test('moves credits from one account to the other', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 10n }), await insertTestUser(db)];
    await send(ada, bob, 4n);
    expect(await availableMicro(db, ada)).toBe(6n);
    expect(await availableMicro(db, bob)).toBe(4n);
  });

  test('rejects more than the available amount with both amounts, and leaves the transaction usable', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 3_000_000n }), await insertTestUser(db)];
    await move(async (tx) => {
      const refused = transfer(tx, {
        debitAccountId: userAccount(ada),
        creditAccountId: userAccount(bob),
        amountMicro: 12_500_000n,
        kind: 'transfer',
        description: 'Bagels',
        idempotencyKey: null,
      });
      await expect(refused).rejects.toMatchObject({
        code: 'insufficient_funds',
        publicMessage: 'Insufficient balance. Required: 12.5 BGL. Available: 3 BGL.',
        data: { required_amount: '12.5', available_amount: '3' },
      });
      expect(await availableMicro(tx, ada)).toBe(3_000_000n);
    });
  });

  test('returns the first transfer for its key, and rejects another amount or recipient', async () => {
    const [ada, bob, eve] = [
      await insertTestUser(db, { boughtMicro: 10n }),
      await insertTestUser(db),
      await insertTestUser(db),
    ];
    const key = randomUUID();
    const first = await send(ada, bob, 4n, key);
    expect(await send(ada, bob, 4n, key)).toEqual({ ...first, isReplayed: true });
    await expect(send(ada, bob, 5n, key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await expect(send(ada, eve, 4n, key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await availableMicro(db, ada)).toBe(6n);
  });

  test('returns the transfer of a repeated key even without enough balance', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 10n }), await insertTestUser(db)];
    const key = randomUUID();
    const first = await send(ada, bob, 10n, key);
    expect(await send(ada, bob, 10n, key)).toEqual({ ...first, isReplayed: true });
  });

  test('50 parallel transfers with credit for one: exactly one succeeds', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 100n }), await insertTestUser(db)];
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) => (i % 2 ? send(ada, bob, 100n) : holdFor(ada, 100n))),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'insufficient_funds' });
    }
    expect(await availableMicro(db, ada)).toBe(0n);
  });

  test('30 parallel calls with one key make one transfer', async () => {
    const [ada, bob] = [await insertTestUser(db, { boughtMicro: 100n }), await insertTestUser(db)];
    const key = randomUUID();
    const answers = await Promise.all(Array.from({ length: 30 }, () => send(ada, bob, 7n, key)));
    expect(new Set(answers.map((answer) => answer.transferId)).size).toBe(1);
    expect(await availableMicro(db, bob)).toBe(7n);
  });

  test('one key used in parallel for accounts that share no lock: one transfer succeeds, the others are rejected', async () => {
    const payers = await Promise.all(
      Array.from({ length: 8 }, () => insertTestUser(db, { boughtMicro: 10n })),
    );
    const takers = await Promise.all(payers.map(() => insertTestUser(db)));
    const key = randomUUID();
    const results = await Promise.allSettled(payers.map((payer, i) => send(payer, takers[i] ?? '', 3n, key)));
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'idempotency_conflict' });
    }
  });

  test('concurrent transfers in both directions do not deadlock', async () => {
    const [ada, bob] = [
      await insertTestUser(db, { boughtMicro: 100n }),
      await insertTestUser(db, { boughtMicro: 100n }),
    ];
    await Promise.all(
      Array.from({ length: 40 }, (_, i) => (i % 2 ? send(ada, bob, 1n) : send(bob, ada, 1n))),
    );
    expect(await availableMicro(db, ada)).toBe(100n);
  });
});

describe('hold', () => {
  test('reduces the available amount, not the balance', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    await holdFor(ada, 7n);
    expect(await getUserTotals(db, ada)).toEqual({ balance: 10n, held: 7n, given: 0n, owed: 0n });
    await expect(holdFor(ada, 4n)).rejects.toMatchObject({ code: 'insufficient_funds' });
  });

  test('returns the first hold for its key, even after the hold was extended or has ended', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const key = randomUUID();
    const first = await holdFor(ada, 3n, { key });
    await move((tx) => extendHold(tx, { holdId: first.holdId, amountMicro: 5n }));
    expect(await holdFor(ada, 3n, { key })).toEqual(first);
    await move((tx) => release(tx, first));
    expect(await holdFor(ada, 3n, { key })).toEqual(first);
    await expect(holdFor(ada, 5n, { key })).rejects.toMatchObject({ code: 'idempotency_conflict' });
    expect(await availableMicro(db, ada)).toBe(10n);
  });

  test('an extension sets the new total, can be repeated, and never reduces the hold', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 3n);
    await move((tx) => extendHold(tx, { holdId, amountMicro: 5n }));
    await move((tx) => extendHold(tx, { holdId, amountMicro: 5n }));
    await move((tx) => extendHold(tx, { holdId, amountMicro: 1n }));
    expect(await availableMicro(db, ada)).toBe(5n);
  });

  test('an extension beyond the balance leaves the hold unchanged', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 3n);
    await expect(move((tx) => extendHold(tx, { holdId, amountMicro: 11n }))).rejects.toMatchObject({
      code: 'insufficient_funds',
      data: { required_amount: '0.000008', available_amount: '0.000007' },
    });
    expect(await move((tx) => settle(tx, { holdId, amountMicro: 3n }))).toHaveProperty('transferId');
  });

  test('growing a hold raises it by the amount at every call and returns the total', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 3n);
    expect(await move((tx) => growHold(tx, { holdId, byMicro: 2n }))).toEqual({ amountMicro: 5n });
    expect(await move((tx) => growHold(tx, { holdId, byMicro: 2n }))).toEqual({ amountMicro: 7n });
    expect(await availableMicro(db, ada)).toBe(3n);
    await expect(move((tx) => growHold(tx, { holdId, byMicro: 4n }))).rejects.toMatchObject({
      code: 'insufficient_funds',
      data: { required_amount: '0.000004', available_amount: '0.000003' },
    });
    await expect(move((tx) => growHold(tx, { holdId, byMicro: 0n }))).rejects.toThrow(/cannot grow/);
    await move((tx) => settle(tx, { holdId, amountMicro: 7n }));
    await expect(move((tx) => growHold(tx, { holdId, byMicro: 1n }))).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await getUserTotals(db, ada)).toEqual({ balance: 3n, held: 0n, given: 0n, owed: 0n });
  });

  test('20 concurrent growths with credit for ten: exactly ten succeed', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 11n });
    const { holdId } = await holdFor(ada, 1n);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => move((tx) => growHold(tx, { holdId, byMicro: 1n }))),
    );
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(10);
    expect(await getUserTotals(db, ada)).toEqual({ balance: 11n, held: 11n, given: 0n, owed: 0n });
  });

  test('settles any amount up to the hold, once, and releases the rest', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 7n);
    const first = await move((tx) => settle(tx, { holdId, amountMicro: 2n }));
    expect(first.transferId).not.toBeNull();
    expect(await getUserTotals(db, ada)).toEqual({ balance: 8n, held: 0n, given: 0n, owed: 0n });
    expect(await move((tx) => settle(tx, { holdId, amountMicro: 2n }))).toEqual(first);
    await expect(move((tx) => settle(tx, { holdId, amountMicro: 3n }))).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(move((tx) => release(tx, { holdId }))).rejects.toMatchObject({ code: 'conflict' });
    await expect(move((tx) => extendHold(tx, { holdId, amountMicro: 9n }))).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('rejects a settlement above the hold', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 7n);
    await expect(move((tx) => settle(tx, { holdId, amountMicro: 8n }))).rejects.toThrow(/smaller than/);
    await expect(move((tx) => settle(tx, { holdId, amountMicro: -1n }))).rejects.toThrow();
    expect(await getUserTotals(db, ada)).toEqual({ balance: 10n, held: 7n, given: 0n, owed: 0n });
  });

  test('settling zero is a release without a charge', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 7n);
    expect(await move((tx) => settle(tx, { holdId, amountMicro: 0n }))).toEqual({ transferId: null });
    await move((tx) => release(tx, { holdId }));
    expect(await getUserTotals(db, ada)).toEqual({ balance: 10n, held: 0n, given: 0n, owed: 0n });
    await expect(move((tx) => settle(tx, { holdId, amountMicro: 1n }))).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('20 parallel settlements and releases of one hold end it once', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const { holdId } = await holdFor(ada, 10n);
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) => move((tx) => settle(tx, { holdId, amountMicro: BigInt(i % 4) }))),
    );
    const { balance, held } = await getUserTotals(db, ada);
    expect(held).toBe(0n);
    const charged = 10n - balance;
    results.forEach((result, i) => {
      expect(result.status).toBe(BigInt(i % 4) === charged ? 'fulfilled' : 'rejected');
    });
  });

  test('releases expired holds, but not extended ones', async () => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    const expiresAt = new Date('2030-01-01T00:00:00Z');
    await holdFor(ada, 2n, { expiresAt });
    const { holdId } = await holdFor(ada, 3n, { expiresAt });
    await move((tx) => extendHold(tx, { holdId, expiresAt: new Date('2030-01-01T01:00:00Z') }));
    const expired = await move((tx) => expireHolds(tx, { now: expiresAt, limit: 100 }));
    expect(expired).toBe(1);
    expect(await getUserTotals(db, ada)).toEqual({ balance: 10n, held: 3n, given: 0n, owed: 0n });
  });
});

describe('the database', () => {
  test.each([
    ['update ledger_transfers set amount = 1'],
    ['delete from ledger_transfers'],
    ['truncate ledger_transfers cascade'],
    ['update ledger_seals set hash = hash'],
    ['delete from ledger_seals'],
    ['delete from ledger_holds'],
    ['truncate ledger_holds cascade'],
    ["update ledger_holds set description = 'x' where status <> 'pending'"],
  ])('rejects: %s', async (statement) => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    await move(async (tx) => release(tx, await holdFor(ada, 1n)));
    await expect(sql.raw(statement).execute(db)).rejects.toMatchObject({ code: '23001' });
  });

  test.each([
    [
      'ledger_accounts_available_not_negative',
      'update ledger_accounts set debits_pending = credits_posted + 1 where id = ',
    ],
    [
      'ledger_accounts_debits_posted_not_negative',
      'update ledger_accounts set debits_posted = -1 where id = ',
    ],
    ['ledger_accounts_user_has_totals', 'update ledger_accounts set debits_pending = null where id = '],
  ])('enforces %s', async (constraint, statement) => {
    const ada = await insertTestUser(db, { boughtMicro: 10n });
    await expect(sql.raw(`${statement}'${userAccount(ada)}'`).execute(db)).rejects.toMatchObject({
      constraint,
    });
  });

  test.each([
    ['ledger_transfers_amount_positive', "'grants', 'payments', 0"],
    ['ledger_transfers_accounts_differ', "'grants', 'grants', 1"],
  ])('enforces %s', async (constraint, values) => {
    const insert = sql.raw(
      `insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs)
       values (${values}, 'grant', 'x', '{}')`,
    );
    await expect(insert.execute(db)).rejects.toMatchObject({ constraint });
  });
});

test('leaves a correct ledger after all tests', async () => {
  expect((await verifyLedger(db)).checks.filter((check) => !check.ok)).toEqual([]);
});
