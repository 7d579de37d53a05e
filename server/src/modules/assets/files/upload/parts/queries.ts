import { sql } from 'kysely';
import type { Database, Transaction } from '../../../../../platform/db/database.ts';

/** The asset's file that an upload creates. */
export type AssetUploadRow = { id: string; path: string; revision_id: string | null };

export async function insertAssetUpload(
  tx: Transaction,
  upload: { id: string; assetId: string; path: string },
): Promise<void> {
  await tx
    .insertInto('asset_uploads')
    .values({ id: upload.id, asset_id: upload.assetId, path: upload.path })
    .execute();
}

export async function selectAssetUpload(
  db: Database | Transaction,
  { assetId, uploadId }: { assetId: string; uploadId: string },
): Promise<AssetUploadRow | undefined> {
  return uploadsOf(db, assetId).where('id', '=', uploadId).executeTakeFirst();
}

/** Returns the unfinished upload of a path. It may have ended: only the platform's table `uploads` knows. */
export async function selectUnfinished(
  db: Database | Transaction,
  { assetId, path }: { assetId: string; path: string },
): Promise<AssetUploadRow | undefined> {
  return uploadsOf(db, assetId).where('path', '=', path).where('revision_id', 'is', null).executeTakeFirst();
}

function uploadsOf(db: Database | Transaction, assetId: string) {
  return db.selectFrom('asset_uploads').select(['id', 'path', 'revision_id']).where('asset_id', '=', assetId);
}

export type UnfinishedRow = {
  id: string;
  path: string;
  size_bytes: number;
  part_bytes: number;
  is_whole: boolean;
  received_bytes: number;
  created_at: Date;
};

/** Returns the unfinished uploads of an asset, oldest first. The limit per user keeps the list short. */
export async function selectUnfinishedOf(db: Database, assetId: string): Promise<UnfinishedRow[]> {
  const { rows } = await sql<UnfinishedRow>`
    select a.id, a.path, u.size_bytes::float8, u.part_bytes::float8, u.sha256 is not null as is_whole, u.created_at,
      case when u.sha256 is not null then u.size_bytes
        else (select coalesce(sum(p.size_bytes), 0) from upload_parts p where p.upload_id = u.id) end::float8 as received_bytes
    from asset_uploads a join uploads u on u.id = a.id
    where a.asset_id = ${assetId} and a.revision_id is null
    order by a.id`.execute(db);
  return rows;
}

export async function selectPending(
  tx: Transaction,
  { userId, sha256s }: { userId: string; sha256s: string[] },
): Promise<string[]> {
  const rows = await tx
    .selectFrom('asset_uploads')
    .innerJoin('uploads', 'uploads.id', 'asset_uploads.id')
    .select('uploads.id')
    .where('uploads.user_id', '=', userId)
    .where(sql<boolean>`uploads.sha256 = any(${sha256s}::text[])`)
    .execute();
  return rows.map(({ id }) => id);
}

export async function setUploadRevision(
  tx: Transaction,
  uploadId: string,
  revisionId: string,
): Promise<void> {
  await tx.updateTable('asset_uploads').set({ revision_id: revisionId }).where('id', '=', uploadId).execute();
}

export async function deleteAssetUpload(db: Database | Transaction, uploadId: string): Promise<void> {
  await db.deleteFrom('asset_uploads').where('id', '=', uploadId).execute();
}

/** Ends the unfinished uploads of a deleted asset; the next sweep deletes their parts. */
export async function deleteUploadsOfAsset(tx: Transaction, assetId: string): Promise<void> {
  await sql`
    with gone as (delete from asset_uploads where asset_id = ${assetId} returning id)
    delete from uploads where id in (select id from gone)`.execute(tx);
}

/**
 * Deletes records of uploads that ended before this time. Until then, a repeated call finds its result there.
 */
export async function deleteEnded(db: Database, before: Date): Promise<void> {
  await sql`
    delete from asset_uploads a
    where a.created_at < ${before} and not exists (select from uploads u where u.id = a.id)`.execute(db);
}
