import { sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';
import type { Blob } from './blob-store.ts';

/** Notes that the store holds this blob, or that it is wanted again. */
export async function upsertBlob(tx: Transaction, blob: Blob): Promise<void> {
  await tx
    .insertInto('blobs')
    .values({ sha256: blob.sha256, size_bytes: BigInt(blob.sizeBytes) })
    .onConflict((conflict) => conflict.column('sha256').doUpdateSet({ touched_at: sql<Date>`now()` }))
    .execute();
}

/**
 * Keeps blobs in the store until the transaction ends. Throws for one that the store does not
 * hold: its bytes and its row go together.
 */
export async function lockBlobs(tx: Transaction, sha256s: string[]): Promise<void> {
  const { rows } = await sql<{ sha256: string }>`
    select sha256 from blobs where sha256 = any(${sha256s}::text[]) order by sha256 for key share`.execute(
    tx,
  );
  const held = new Set(rows.map((row) => row.sha256));
  const missing = sha256s.find((sha256) => !held.has(sha256));
  if (missing !== undefined) throw new Error(`The blob store does not hold ${missing}`);
}

/** Keeps a blob that something refers to from being looked at again soon. */
export async function touchBlob(db: Database, sha256: string): Promise<void> {
  await db.updateTable('blobs').set({ touched_at: sql<Date>`now()` }).where('sha256', '=', sha256).execute();
}

/** False when the blob was wanted again meanwhile. Throws a foreign-key error when something refers to it. */
export async function deleteBlobRow(tx: Transaction, sha256: string, untouchedSince: Date): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('blobs')
    .where('sha256', '=', sha256)
    .where('touched_at', '<', untouchedSince)
    .returning('sha256')
    .executeTakeFirst();
  return deleted !== undefined;
}
