import { type Selectable, sql } from 'kysely';
import type { Database, Transaction } from '../../db/database.ts';
import type { UploadsTable } from '../../db/schema.generated.ts';
import type { Upload, UploadPart } from './upload.ts';

export async function insertUpload(
  tx: Transaction,
  upload: Omit<Upload, 'id' | 'createdAt'>,
): Promise<Upload> {
  const row = await tx
    .insertInto('uploads')
    .values({
      user_id: upload.userId,
      store_key: upload.storeKey,
      size_bytes: BigInt(upload.sizeBytes),
      part_bytes: BigInt(upload.partBytes),
      announced_sha256: upload.announcedSha256,
      sha256: upload.blob?.sha256 ?? null,
      completed_at: upload.blob ? sql<Date>`now()` : null,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toUpload(row);
}

/** Returns the user's upload. */
export async function selectUpload(
  db: Database | Transaction,
  { uploadId, userId }: { uploadId: string; userId: string },
): Promise<Upload | null> {
  const row = await db
    .selectFrom('uploads')
    .selectAll()
    .where('id', '=', uploadId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row ? toUpload(row) : null;
}

/** Returns the newest upload with this hash and size. */
export async function selectAnnounced(
  db: Database,
  { userId, sha256, sizeBytes }: { userId: string; sha256: string; sizeBytes: number },
): Promise<Upload | null> {
  const row = await db
    .selectFrom('uploads')
    .selectAll()
    .where('user_id', '=', userId)
    .where('announced_sha256', '=', sha256)
    .where('size_bytes', '=', BigInt(sizeBytes))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row ? toUpload(row) : null;
}

/** Deletes the user's complete uploads with these bytes, except some. */
export async function deleteWhole(
  tx: Transaction,
  { userId, sha256s, except }: { userId: string; sha256s: string[]; except: string[] },
): Promise<void> {
  await tx
    .deleteFrom('uploads')
    .where('user_id', '=', userId)
    .where(sql<boolean>`sha256 = any(${sha256s}::text[])`)
    .where(sql<boolean>`id <> all(${except}::uuid[])`)
    .execute();
}

/**
 * Records that the upload is complete. Returns false if the upload no longer exists. Its parts are kept until
 * it ends, because completing it may have to be resumed.
 */
export async function markComplete(tx: Transaction, uploadId: string, sha256: string): Promise<boolean> {
  await tx
    .updateTable('uploads')
    .set({ sha256, completed_at: sql<Date>`now()` })
    .where('id', '=', uploadId)
    .where('sha256', 'is', null)
    .execute();
  const row = await tx.selectFrom('uploads').select('sha256').where('id', '=', uploadId).executeTakeFirst();
  return row?.sha256 === sha256;
}

/**
 * Records a part whose bytes are safely stored. Does nothing if the part is already recorded, or if the
 * upload is complete or no longer exists.
 */
export async function insertPart(db: Database, uploadId: string, part: UploadPart): Promise<void> {
  await sql`
    insert into upload_parts (upload_id, number, sha256, size_bytes)
    select id, ${part.number}, ${part.sha256}, ${part.sizeBytes} from uploads
    where id = ${uploadId} and sha256 is null
    for key share
    on conflict do nothing`.execute(db);
}

export async function selectPart(db: Database, uploadId: string, number: number): Promise<UploadPart | null> {
  const [part] = await partsOf(db, uploadId).where('number', '=', number).execute();
  return part ?? null;
}

/** Returns the parts by number. */
export async function selectParts(db: Database, uploadId: string): Promise<UploadPart[]> {
  return partsOf(db, uploadId).orderBy('number').execute();
}

function partsOf(db: Database, uploadId: string) {
  return db
    .selectFrom('upload_parts')
    .select(['number', 'sha256', sql<number>`size_bytes::float8`.as('sizeBytes')])
    .where('upload_id', '=', uploadId);
}

export async function deleteParts(db: Database, uploadId: string, numbers: number[]): Promise<void> {
  await db
    .deleteFrom('upload_parts')
    .where('upload_id', '=', uploadId)
    .where('number', 'in', numbers)
    .execute();
}

/** Deletes an upload, and returns the store's key of its parts; null if the user has no such upload. */
export async function deleteUpload(
  db: Database | Transaction,
  { uploadId, userId }: { uploadId: string; userId: string },
): Promise<string | null> {
  const row = await db
    .deleteFrom('uploads')
    .where('id', '=', uploadId)
    .where('user_id', '=', userId)
    .returning('store_key')
    .executeTakeFirst();
  return row?.store_key ?? null;
}

/** Deletes these uploads of a user, and returns the store's keys of their parts. */
export async function deleteUploads(tx: Transaction, userId: string, uploadIds: string[]): Promise<string[]> {
  const rows = await tx
    .deleteFrom('uploads')
    .where('id', '=', sql<string>`any(${uploadIds}::uuid[])`)
    .where('user_id', '=', userId)
    .returning('store_key')
    .execute();
  return rows.map((row) => row.store_key);
}

/** Deletes the uploads of a user; the next sweep deletes their parts. */
export async function deleteUserUploads(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('uploads').where('user_id', '=', userId).execute();
}

/** Deletes uploads without activity since then. */
export async function deleteUntouched(db: Database, before: Date): Promise<void> {
  await sql`
    delete from uploads u where u.created_at < ${before}
      and (u.completed_at is null or u.completed_at < ${before})
      and not exists (select from upload_parts p where p.upload_id = u.id and p.received_at >= ${before})`.execute(
    db,
  );
}

/** Returns the keys that belong to an upload. */
export async function selectKnownKeys(db: Database, keys: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ store_key: string }>`
    select store_key from uploads where store_key = any(${keys}::text[])`.execute(db);
  return new Set(rows.map((row) => row.store_key));
}

/** Returns the number of a user's unfinished uploads, and the sum of their announced bytes. */
export async function sumUnfinished(
  db: Database | Transaction,
  userId: string,
): Promise<{ bytes: number; uploads: number }> {
  const { rows } = await sql<{ bytes: number; uploads: number }>`
    select coalesce(sum(size_bytes), 0)::float8 as bytes, count(*)::int as uploads
    from uploads where user_id = ${userId} and sha256 is null`.execute(db);
  return rows[0] ?? { bytes: 0, uploads: 0 };
}

function toUpload(row: Selectable<UploadsTable>): Upload {
  const sizeBytes = Number(row.size_bytes);
  return {
    id: row.id,
    userId: row.user_id,
    storeKey: row.store_key,
    sizeBytes,
    partBytes: Number(row.part_bytes),
    announcedSha256: row.announced_sha256,
    blob: row.sha256 === null ? null : { sha256: row.sha256, sizeBytes },
    createdAt: row.created_at,
  };
}
