import { sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';
import type { Blob } from './blob-store.ts';

/** Records a blob whose bytes were just written to the store, perhaps again. */
export async function upsertBlob(tx: Transaction, blob: Blob): Promise<void> {
  const now = sql<Date>`now()`;
  await tx
    .insertInto('blobs')
    .values({ sha256: blob.sha256, size_bytes: BigInt(blob.sizeBytes) })
    .onConflict((conflict) =>
      conflict.column('sha256').doUpdateSet({ touched_at: now, checked_at: now, damaged_at: null }),
    )
    .execute();
}

/** Locks the name of a blob until the transaction ends, so that storing and deleting it are serialized. */
export async function lockBlobName(tx: Transaction, sha256: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`blob ${sha256}`}, 0))`.execute(tx);
}

/** Identifies the stored bytes that a check refers to. As text, the time keeps its microseconds. */
const version = sql<string>`touched_at::text`;

/** Returns the recorded state of a blob. Read it before the bytes. */
export async function readBlobState(
  db: Database,
  sha256: string,
): Promise<{ isDamaged: boolean; version: string | null }> {
  const row = await db
    .selectFrom('blobs')
    .select(['damaged_at', version.as('version')])
    .where('sha256', '=', sha256)
    .executeTakeFirst();
  return { isDamaged: row?.damaged_at != null, version: row?.version ?? null };
}

/**
 * Records the result of a check, unless the bytes were stored again after the state was read. If the damage
 * was already known, its time stays unchanged.
 */
export async function recordBlobCheck(
  db: Database,
  blob: { sha256: string; version: string | null },
  { isGood, at }: { isGood: boolean; at: Date },
): Promise<void> {
  await db
    .updateTable('blobs')
    .set({ checked_at: at, damaged_at: isGood ? null : sql<Date>`coalesce(damaged_at, ${at})` })
    .where('sha256', '=', blob.sha256)
    .where(version, '=', blob.version)
    .execute();
}

/** Clears damage recorded for earlier bytes. A check that still reads those can no longer record its result. */
export async function clearBlobDamage(db: Database, sha256: string): Promise<void> {
  await db
    .updateTable('blobs')
    .set({ touched_at: sql<Date>`clock_timestamp()`, damaged_at: null })
    .where('sha256', '=', sha256)
    .execute();
}

/**
 * Protects blobs from the collector for another hour, for callers that need long to write references to them.
 * Returns false if none of the blobs exists.
 */
export async function touchBlobs(db: Database, sha256s: string[]): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('blobs')
    .set({ touched_at: sql<Date>`now()` })
    .where('sha256', 'in', sha256s)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the blobs that follow this one, ordered by name. */
export async function listBlobs(
  db: Database,
  after: string,
  limit: number,
): Promise<{ sha256: string; size_bytes: bigint }[]> {
  return db
    .selectFrom('blobs')
    .select(['sha256', 'size_bytes'])
    .where('sha256', '>', after)
    .orderBy('sha256')
    .limit(limit)
    .execute();
}

/** Returns the blob with the oldest check before `before`. Skips the blobs in `without`. */
export async function findLongestUnchecked(
  db: Database,
  before: Date,
  without: readonly string[],
): Promise<{ sha256: string; size_bytes: bigint; version: string } | undefined> {
  return db
    .selectFrom('blobs')
    .select(['sha256', 'size_bytes', version.as('version')])
    .where('checked_at', '<', before)
    .$if(without.length > 0, (query) => query.where('sha256', 'not in', without))
    .orderBy('checked_at')
    .limit(1)
    .executeTakeFirst();
}

/** Returns the number of blobs known to be damaged, and the time of the oldest check. */
export async function readBlobHealth(db: Database): Promise<{ damaged: number; oldestCheck: Date | null }> {
  const { rows } = await sql<{ damaged: bigint; oldest: Date | null }>`
    select (select count(*) from blobs where damaged_at is not null) as damaged,
      (select min(checked_at) from blobs) as oldest`.execute(db);
  return { damaged: Number(rows[0]?.damaged ?? 0n), oldestCheck: rows[0]?.oldest ?? null };
}

/**
 * Locks blobs until the transaction ends, so that they are not deleted. Throws if the store lacks a blob: its
 * row was deleted with the bytes.
 */
export async function lockBlobRows(tx: Transaction, sha256s: string[]): Promise<void> {
  const { rows } = await sql<{ sha256: string }>`
    select sha256 from blobs where sha256 = any(${sha256s}::text[]) order by sha256 for key share`.execute(
    tx,
  );
  const held = new Set(rows.map((row) => row.sha256));
  const missing = sha256s.find((sha256) => !held.has(sha256));
  if (missing !== undefined) throw new Error(`The blob store does not hold ${missing}`);
}
