import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';

type XorbName = { userId: string; session: string; hash: string };

/** Returns a xorb that the user has sent in this session, with the headers of its chunks. */
export async function findXorb(
  db: Database | Transaction,
  { userId, session, hash }: XorbName,
): Promise<{ sha256: string; chunk_headers: Buffer | null } | undefined> {
  return db
    .selectFrom('hub_xorbs')
    .select(['sha256', 'chunk_headers'])
    .where('user_id', '=', userId)
    .where('session', '=', session)
    .where('hash', '=', hash)
    .executeTakeFirst();
}

/** True if the user has sent the xorb in this session. */
export async function hasXorb(db: Database, { userId, session, hash }: XorbName): Promise<boolean> {
  const row = await db
    .selectFrom('hub_xorbs')
    .select('hash')
    .where('user_id', '=', userId)
    .where('session', '=', session)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row !== undefined;
}

/** Stores the bytes of a xorb; does nothing if it exists. */
export async function insertXorb(
  tx: Transaction,
  { userId, session, hash }: XorbName,
  { sha256, sizeBytes, headers }: Blob & { headers: Buffer },
): Promise<void> {
  await tx
    .insertInto('hub_xorbs')
    .values({
      ...{ user_id: userId, session, hash, sha256 },
      ...{ size_bytes: BigInt(sizeBytes), chunk_headers: headers },
    })
    .onConflict((conflict) => conflict.columns(['user_id', 'session', 'hash']).doNothing())
    .execute();
}

/** Returns the total bytes of a user's xorbs. A xorb that was uploaded several times counts each time. */
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

/** Step: deletes the xorbs of a user who deletes their account. */
export async function deleteUserXorbs(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('hub_xorbs').where('user_id', '=', userId).execute();
}
