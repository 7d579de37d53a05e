import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';

export type FilePurpose = 'fine-tune' | 'batch' | 'batch_output';

export type FileRow = {
  asset_id: string;
  path: string;
  sha256: string;
  size_bytes: bigint;
  created_at: Date;
  purpose: FilePurpose;
};

/**
 * Returns a user's datasets that contain a single file (and optionally a card), after the dataset `after`;
 * newest first by default.
 */
export async function selectFiles(
  db: Database | Transaction,
  asked: {
    userId: string;
    assetId?: string;
    purpose?: FilePurpose | undefined;
    order?: 'asc' | 'desc';
    after?: string | undefined;
    limit: number;
  },
): Promise<FileRow[]> {
  const { userId, assetId = null, purpose = null, order = 'desc', after = null, limit } = asked;
  const [direction, beyond] = order === 'asc' ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
  const { rows } = await sql<FileRow>`
    select assets.id as asset_id, file.path, file.sha256, file.size_bytes, assets.created_at,
      coalesce(purposes.purpose, 'fine-tune') as purpose
    from assets
    left join file_purposes purposes on purposes.asset_id = assets.id
    cross join lateral (
      select min(path) as path, min(sha256) as sha256, min(size_bytes) as size_bytes, count(*) as files
      from asset_files where asset_id = assets.id and last_number is null and path <> 'README.md'
    ) file
    where owner_user_id = ${userId} and dataset_type = 'RAW' and deleted_at is null and file_count <= 2
      and file.files = 1
      and (${assetId}::uuid is null or assets.id = ${assetId}::uuid)
      and (${purpose}::text is null or coalesce(purposes.purpose, 'fine-tune') = ${purpose}::text)
      and (${after}::uuid is null or (assets.created_at, assets.id) ${beyond} (
        select created_at, id from assets where id = ${after}::uuid and owner_user_id = ${userId}))
    order by assets.created_at ${direction}, assets.id ${direction}
    limit ${limit}`.execute(db);
  return rows;
}

export async function insertPurpose(tx: Transaction, assetId: string, purpose: FilePurpose): Promise<void> {
  await tx.insertInto('file_purposes').values({ asset_id: assetId, purpose }).execute();
}
