import { sql } from 'kysely';
import type { Database, Transaction } from '../db/database.ts';

/*
 * Which users and workloads own bytes. Triggers on the tables that reference bytes update `blob_owners`. From
 * it, triggers derive `user_storage` and `blobs.unowned`.
 */

/** Returns how many bytes a user stores. Bytes that are shared by several files count once. */
export async function findStoredBytes(db: Database, userId: string): Promise<bigint> {
  const row = await db
    .selectFrom('user_storage')
    .select('bytes')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.bytes ?? 0n;
}

/** Like `findStoredBytes`, but locked until the transaction ends, to serialize changes by one user. */
export async function lockStoredBytes(tx: Transaction, userId: string): Promise<bigint> {
  const { bytes } = await tx
    .insertInto('user_storage')
    .values({ user_id: userId })
    .onConflict((conflict) =>
      conflict.column('user_id').doUpdateSet((eb) => ({ bytes: eb.ref('user_storage.bytes') })),
    )
    .returning('bytes')
    .executeTakeFirstOrThrow();
  return bytes;
}

/** Returns true if files of the user already contain these bytes. */
export async function ownsBlob(db: Database | Transaction, userId: string, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('blob_owners')
    .select('refs')
    .where('sha256', '=', sha256)
    .where('owner_kind', '=', 'user')
    .where('owner_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns true if the store has the undamaged blob and the blob has an owner. */
export async function hasOwnedBlob(db: Database, sha256: string): Promise<boolean> {
  const row = await db
    .selectFrom('blob_owners')
    .innerJoin('blobs', 'blobs.sha256', 'blob_owners.sha256')
    .select('blob_owners.sha256')
    .where('blobs.sha256', '=', sha256)
    .where('blobs.damaged_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Returns blobs without an owner that were not stored again after `before`. */
export async function listUnownedBlobs(db: Database, before: Date, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('blobs')
    .select('sha256')
    .where('unowned', '=', true)
    .where('touched_at', '<', before)
    .orderBy('touched_at')
    .limit(limit)
    .execute();
  return rows.map((row) => row.sha256);
}

/**
 * Deletes a blob's row. Returns false if the blob has an owner or was stored again. Locks the row first,
 * which waits for transactions that are about to become owners.
 */
export async function deleteUnownedBlob(
  tx: Transaction,
  sha256: string,
  untouchedSince: Date,
): Promise<boolean> {
  await tx.selectFrom('blobs').select('sha256').where('sha256', '=', sha256).forUpdate().execute();
  const { numAffectedRows } = await sql`
    delete from blobs where sha256 = ${sha256} and touched_at < ${untouchedSince}
      and not exists (select from blob_owners where blob_owners.sha256 = blobs.sha256)`.execute(tx);
  return numAffectedRows === 1n;
}
