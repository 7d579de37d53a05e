import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';

type XorbName = { userId: string; session: string; hash: string };

/** The bytes of a xorb that the user has sent in this session. */
export async function findXorb(
  db: Database | Transaction,
  { userId, session, hash }: XorbName,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('hub_xorbs')
    .select('sha256')
    .where('user_id', '=', userId)
    .where('session', '=', session)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row?.sha256;
}

/** Keeps the bytes as those of a xorb; one that is there stays. */
export async function insertXorb(
  tx: Transaction,
  { userId, session, hash }: XorbName,
  blob: Blob,
): Promise<void> {
  await tx
    .insertInto('hub_xorbs')
    .values({ user_id: userId, session, hash, sha256: blob.sha256, size_bytes: BigInt(blob.sizeBytes) })
    .onConflict((conflict) => conflict.columns(['user_id', 'session', 'hash']).doNothing())
    .execute();
}

/** What the xorbs of a user have, each as often as it was sent. */
export async function sumXorbs(db: Database | Transaction, userId: string): Promise<number> {
  const row = await db
    .selectFrom('hub_xorbs')
    .select(sql<number>`coalesce(sum(size_bytes), 0)::float8`.as('bytes'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return row.bytes;
}

export async function deleteXorbsBefore(db: Database, before: Date): Promise<void> {
  await db.deleteFrom('hub_xorbs').where('created_at', '<', before).execute();
}

export async function deleteUserXorbs(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('hub_xorbs').where('user_id', '=', userId).execute();
}
