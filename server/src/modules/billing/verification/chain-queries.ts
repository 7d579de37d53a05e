import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { type SealableTransfer, sealableColumns } from './hash-transfer.ts';

type Reader = Database | Transaction;

/** The highest possible seq. No transfer has it. */
export const LAST_SEQ = 2n ** 63n - 1n;

/**
 * Returns the last seq that was assigned, and a transaction id. Every transaction that has a seq up to this
 * one has a lower id.
 */
export async function readSealingFence(db: Database): Promise<{ seq: bigint; xid: string }> {
  const last = await sql<{ seq: bigint }>`select last_value as seq from ledger_transfers_seq_seq`.execute(db);
  const own = await sql<{ xid: string }>`select pg_current_xact_id()::text as xid`.execute(db);
  const seq = last.rows[0]?.seq;
  const xid = own.rows[0]?.xid;
  if (seq === undefined || xid === undefined) throw new Error('Query for the ledger fence returned no row');
  return { seq, xid };
}

/**
 * Returns true if all transactions of this database with an id up to this one have ended. Works by locks: a
 * transaction locks its id before it can get a seq, and until its writes are visible. A snapshot could not be
 * used, because it also includes transactions in other databases of the server, which may run for hours (an
 * import, a copy of a database).
 */
export async function haveEarlierTransactionsEnded(db: Database, xid: string): Promise<boolean> {
  const { rows } = await sql<{ ended: boolean }>`
    select not exists (
      select from pg_locks join pg_stat_activity using (pid)
      where datname = current_database() and locktype = 'transactionid' and mode = 'ExclusiveLock'
        and age(transactionid) >= age(${xid}::xid8::xid)
    ) as ended`.execute(db);
  return rows[0]?.ended === true;
}

/** Locks the chain until the transaction ends, so that only one process seals. */
export async function lockChain(tx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('ledger_seals'))`.execute(tx);
}

/** A seal's position in the chain. */
export type Place = { seq: bigint; hash: string };

export async function findChainHead(db: Reader): Promise<Place | undefined> {
  return db
    .selectFrom('ledger_seals')
    .select(['seq', 'hash'])
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Returns the hash of the seal of this seq; undefined if there is none. */
export async function findSealHash(db: Reader, seq: bigint): Promise<string | undefined> {
  const seal = await db.selectFrom('ledger_seals').select('hash').where('seq', '=', seq).executeTakeFirst();
  return seal?.hash;
}

export async function listUnsealed(
  tx: Transaction,
  { after, seqMax, limit }: { after: bigint; seqMax: bigint; limit: number },
): Promise<SealableTransfer[]> {
  const { rows } = await sql<SealableTransfer>`
    select ${sealableColumns} from ledger_transfers t
    where t.seq > ${after} and t.seq <= ${seqMax} order by t.seq limit ${limit}`.execute(tx);
  return rows;
}

/** Returns the age of the oldest unsealed transfer; 0 if all are sealed. */
export async function findUnsealedSeconds(db: Reader): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from ledger_transfers
    where seq > coalesce((select max(seq) from ledger_seals), 0) order by seq limit 1`.execute(db);
  return rows[0]?.seconds ?? 0;
}

export async function insertSeals(tx: Transaction, seals: Place[]): Promise<void> {
  await tx.insertInto('ledger_seals').values(seals).execute();
}

/**
 * The tables of the sealer's sums. `by` are a table's grouping columns; `of` selects its rows from
 * `ledger_sum_days`.
 */
const sealedSums = [
  { table: 'ledger_sealed_totals', by: ['account_id', 'counterpart'], of: sql`true` },
  { table: 'ledger_daily', by: ['account_id', 'day', 'counterpart'], of: sql`true` },
  { table: 'ledger_key_totals', by: ['account_id', 'key_id', 'counterpart'], of: sql`key_id is not null` },
  {
    table: 'ledger_key_daily',
    by: ['account_id', 'key_id', 'day', 'counterpart'],
    of: sql`key_id is not null`,
  },
] as const;

/**
 * Adds the transfers above `after` and up to `upTo` to the sealer's sums. Call it in the transaction that
 * seals them.
 */
export async function addToSealedSums(
  tx: Transaction,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<void> {
  for (const { table, by, of } of sealedSums) {
    const columns = sql.join(by.map((column) => sql.ref(column)));
    await sql`
      insert into ${sql.table(table)} as total (${columns}, paid, received, transfers)
      select ${columns}, sum(paid), sum(received), sum(transfers)
      from ledger_sum_days(${after}, ${upTo}) where ${of} group by ${columns}
      on conflict (${columns}) do update set
        paid = total.paid + excluded.paid,
        received = total.received + excluded.received,
        transfers = total.transfers + excluded.transfers`.execute(tx);
  }
}
