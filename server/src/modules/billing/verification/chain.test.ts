import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { shareSnapshot } from '../../../platform/db/read-snapshot.ts';
import { storableText } from '../../../platform/db/storable-text.ts';
import { testDatabase } from '../../../testing/test-database.ts';
import { userAccount } from '../ledger/accounts.ts';
import { hold, settle } from '../ledger/holds/holds.ts';
import { transfer } from '../ledger/transfer.ts';
import { insertTestUser } from '../testing/test-user.ts';
import { recomputeChain, sealTransfers } from './chain.ts';
import { haveEarlierTransactionsEnded, readSealingFence } from './chain-queries.ts';
import { checkSeals, countSeals, lockProofs } from './proof-queries.ts';
import { proveLedger, verifyLedger, verifyLedgerIfStale } from './verify-ledger.ts';

const grant = (tx: Transaction, userId: string, references = {}) =>
  transfer(tx, {
    debitAccountId: 'grants',
    creditAccountId: userAccount(userId),
    amountMicro: 1n,
    kind: 'grant',
    description: 'Ω "quoted" \\ text',
    references,
    idempotencyKey: null,
  });

/** Creates five sealed transfers, one of them a settlement for an API key, and one open hold. */
async function sealedLedger(): Promise<{ db: Database; ada: string }> {
  const { db } = await testDatabase();
  const ada = await insertTestUser(db, { grantMicro: 100n });
  for (let i = 0; i < 3; i += 1)
    await db.transaction().execute((tx) => grant(tx, ada, { run_id: `r${i}`, asset_name: 'Crumb' }));
  const holds = await Promise.all(
    ['a', 'b'].map((key) =>
      db.transaction().execute((tx) =>
        hold(tx, {
          userId: ada,
          amountMicro: 10n,
          kind: 'deployment',
          description: 'Serving',
          references: { key_id: '0199a3f2-1c4d-7abc-8def-0123456789ab' },
          expiresAt: new Date('2100-01-01'),
          idempotencyKey: key,
        }),
      ),
    ),
  );
  await db.transaction().execute((tx) => settle(tx, { holdId: holds[0]?.holdId ?? '', amountMicro: 4n }));
  expect(await sealTransfers(db)).toBe(5);
  return { db, ada };
}

const failed = async (db: Database) =>
  (await verifyLedger(db)).checks.filter((check) => !check.ok).map((check) => check.name);
const head = async (db: Database) => (await verifyLedger(db)).head?.hash;

/** Simulates a superuser, who bypasses triggers and foreign keys. */
const tamper = (db: Database, statement: string) =>
  db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx);
    await sql.raw(statement).execute(tx);
  });

describe('sealing', () => {
  test('seals each transfer once, and resumes after the last seal', async () => {
    const { db, ada } = await sealedLedger();
    const before = await head(db);
    expect(await sealTransfers(db)).toBe(0);
    await db.transaction().execute((tx) => grant(tx, ada));
    expect(await sealTransfers(db)).toBe(1);
    expect(await head(db)).not.toBe(before);
    expect(await failed(db)).toEqual([]);
  });

  test('waits for a lower number that is not yet committed', async () => {
    const { db, ada } = await sealedLedger();
    const bob = await insertTestUser(db);
    const sealing = await db.transaction().execute(async (tx) => {
      await grant(tx, ada);
      await db.transaction().execute((other) => grant(other, bob));
      const started = sealTransfers(db);
      expect(await haveEarlierTransactionsEnded(db, (await readSealingFence(db)).xid)).toBe(false);
      expect((await verifyLedger(db)).sealedTransfers).toBe(5);
      return { started };
    });
    expect(await sealing.started).toBe(2);
    expect(await failed(db)).toEqual([]);
  });

  test('does not wait for another database of the same server', async () => {
    const { db, ada } = await sealedLedger();
    const other = await testDatabase();
    await other.db.transaction().execute(async (tx) => {
      await sql`select pg_current_xact_id()`.execute(tx);
      await db.transaction().execute((own) => grant(own, ada));
      expect(await haveEarlierTransactionsEnded(db, (await readSealingFence(db)).xid)).toBe(true);
    });
  });

  test('tolerates numbers of transactions that were rolled back', async () => {
    const { db, ada } = await sealedLedger();
    const undone = db.transaction().execute(async (tx) => {
      await grant(tx, ada);
      throw new Error('rolled back');
    });
    await expect(undone).rejects.toThrow('rolled back');
    await db.transaction().execute((tx) => grant(tx, ada));
    expect(await sealTransfers(db)).toBe(1);
    expect(await failed(db)).toEqual([]);
  });

  test('several sealers during transfers make one chain', async () => {
    const { db, ada } = await sealedLedger();
    const people = await Promise.all(Array.from({ length: 4 }, () => insertTestUser(db)));
    await Promise.all([
      ...people.map(async (person) => {
        for (let i = 0; i < 20; i += 1) await db.transaction().execute((tx) => grant(tx, person));
      }),
      ...Array.from({ length: 3 }, async () => {
        for (let i = 0; i < 5; i += 1) await sealTransfers(db);
      }),
    ]);
    await db.transaction().execute((tx) => grant(tx, ada));
    await sealTransfers(db);
    const report = await verifyLedger(db);
    expect(report.sealedTransfers).toBe(report.transfers);
    expect(report.checks.filter((check) => !check.ok)).toEqual([]);
  });
});

describe('verification finds', () => {
  test.each([
    [
      'another amount',
      'update ledger_transfers set amount = amount + 1 where seq = 2',
      ['sum', 'balances', 'totals', 'chain'],
    ],
    ['another description', "update ledger_transfers set description = 'x' where seq = 2", ['chain']],
    [
      'another reference',
      `update ledger_transfers set refs = refs || '{"run_id":"r9"}' where seq = 2`,
      ['chain'],
    ],
    [
      'another time',
      "update ledger_transfers set created_at = created_at - interval '1 microsecond' where seq = 2",
      ['chain'],
    ],
    [
      'a missing transfer',
      'delete from ledger_transfers where seq = 3',
      ['sum', 'balances', 'totals', 'chain'],
    ],
    ['another total', 'update ledger_sealed_totals set paid = paid + 1', ['totals']],
    ['another sum of a day', 'update ledger_daily set paid = paid + 1', ['totals']],
    ['another total of a key', 'update ledger_key_totals set paid = paid + 1', ['totals']],
    ['a missing sum of a key and day', 'delete from ledger_key_daily', ['totals']],
    ['a sum of a key on another day', 'update ledger_key_daily set day = day + 1', ['totals']],
    [
      'a sum of a day without transfers',
      'insert into ledger_daily select account_id, day + 1, counterpart, 0, 0, 0 from ledger_daily limit 1',
      ['totals'],
    ],
    ['a missing seal', 'delete from ledger_seals where seq = 3', ['chain']],
    ['another seal', "update ledger_seals set hash = repeat('0', 64) where seq = 5", ['chain']],
    [
      'a raised balance',
      "update ledger_accounts set credits_posted = credits_posted + 1 where kind = 'user'",
      ['sum', 'balances'],
    ],
    ['a missing hold', "update ledger_accounts set debits_pending = 0 where kind = 'user'", ['holds']],
    [
      'a settlement of another amount',
      "update ledger_holds set settled_amount = 5 where status = 'settled'",
      ['settlements'],
    ],
  ])('%s', async (_what, statement, checks) => {
    const { db } = await sealedLedger();
    expect(await failed(db)).toEqual([]);
    await tamper(db, statement);
    expect(await failed(db)).toEqual(checks);
  });
});

describe('a chain recomputed on several connections', () => {
  const recompute = (db: Database) =>
    shareSnapshot(db, 3, (txs) => recomputeChain(txs, { upTo: 5n, batch: 1n }));

  test('is correct if all of its parts are', async () => {
    const { db } = await sealedLedger();
    expect(await recompute(db)).toEqual({ broken: null, skipped: 0 });
  });

  test('reports its first wrong seal, and counts missing seals', async () => {
    const { db } = await sealedLedger();
    await tamper(db, "update ledger_transfers set description = 'x' where seq in (2, 4)");
    expect((await recompute(db)).broken).toContain('at transfer 2');
    await tamper(db, 'delete from ledger_seals where seq = 1');
    expect((await recompute(db)).skipped).toBe(1);
  });

  test('is read from one snapshot on all connections', async () => {
    const { db } = await sealedLedger();
    const counts = await shareSnapshot(db, 2, async (txs) => {
      await tamper(db, 'delete from ledger_seals');
      return Promise.all(txs.map((tx) => countSeals(tx)));
    });
    expect(counts).toEqual([5, 5]);
  });
});

describe('a proof', () => {
  const names = async (db: Database) =>
    (await proveLedger(db)).checks.filter((check) => !check.ok).map((check) => check.name);

  test.each([
    [
      'a truncated chain, with its transfers deleted',
      `delete from ledger_seals where seq > 5;
      delete from ledger_transfers where seq > 5;
      delete from ledger_given where transfer_id not in (select id from ledger_transfers)`,
    ],
    ['a changed hash of a verified seal', "update ledger_seals set hash = repeat('0', 64) where seq = 6"],
  ])('finds %s until it is repaired', async (_what, statement) => {
    const { db, ada } = await sealedLedger();
    await db.transaction().execute((tx) => grant(tx, ada));
    await sealTransfers(db);
    expect(await names(db)).toEqual([]);
    await tamper(db, statement);
    expect(await names(db)).toContain('chain');
    expect(await names(db)).toContain('chain');
  });

  test('waits for a running proof of any process', async () => {
    const { db } = await sealedLedger();
    const waits = vi.fn<() => void>();
    let isOver = false;
    const proof = await db.transaction().execute(async (tx) => {
      await lockProofs(tx);
      const waiting = proveLedger(db, waits).then(() => expect(isOver).toBe(true));
      await expect.poll(() => waits.mock.calls.length).toBe(1);
      // The job skips its run instead of waiting.
      expect(await verifyLedgerIfStale(db)).toBeNull();
      isOver = true;
      return { waiting };
    });
    await proof.waiting;
  });

  test('is old after a minute, or after 25 times its duration if that is longer', async () => {
    const { db } = await sealedLedger();
    await proveLedger(db);
    const age = (minutes: number) =>
      sql`update ledger_last_proof set proved_at = now() - ${minutes} * interval '1 minute'`.execute(db);
    await age(0);
    expect(await verifyLedgerIfStale(db)).toBeNull();
    await sql`update ledger_last_proof set report = report || '{"seconds": 120}'`.execute(db);
    await age(45);
    expect(await verifyLedgerIfStale(db)).toBeNull();
    await age(55);
    expect(await verifyLedgerIfStale(db)).not.toBeNull();
    await age(2);
    expect(await verifyLedgerIfStale(db)).not.toBeNull();
  });
});

test('the hash in SQL matches hashTransfer for any text', async () => {
  const { db, ada } = await sealedLedger();
  const text = fc.string({ unit: 'binary', maxLength: 20 }).map((any) => storableText(any));
  // Only values may be any text: the names of references are fixed in the code.
  const name = fc.string({ minLength: 1, maxLength: 8 });
  const refs = fc.dictionary(name, text, { maxKeys: 4, noNullPrototype: true });
  const property = fc.asyncProperty(text, refs, async (description, references) => {
    await sql`
      insert into ledger_transfers (debit_account_id, credit_account_id, amount, kind, description, refs, idempotency_key)
      values ('grants', ${userAccount(ada)}, 1, 'grant', ${description}, ${JSON.stringify(references)}, ${description})
      on conflict do nothing`.execute(db);
  });
  await fc.assert(property, { numRuns: 200 });
  await sealTransfers(db);
  const { suspect } = await checkSeals(db, { after: 0n, upTo: 1000n });
  expect(suspect).toBeNull();
});

test('hashTransfer is right if the hash in SQL differs from it', async () => {
  const { db, ada } = await sealedLedger();
  // These names differ in order: JavaScript sorts by UTF-16, PostgreSQL by UTF-8.
  const references = { '\u{1f956}': 'baguette', '\uff5e': 'tilde' };
  for (let i = 0; i < 3; i += 1) await db.transaction().execute((tx) => grant(tx, ada, references));
  await sealTransfers(db);
  const { suspect } = await checkSeals(db, { after: 0n, upTo: 1000n });
  expect(suspect).not.toBeNull();
  expect(await failed(db)).toEqual([]);
  await tamper(db, `update ledger_transfers set amount = amount + 1 where seq = ${Number(suspect) + 1}`);
  expect(await failed(db)).toContain('chain');
});
