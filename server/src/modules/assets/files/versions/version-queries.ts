import type { Database } from '../../../../platform/db/database.ts';

/** The files that a path has had, with the revision that brought each, newest first. */
export async function selectVersions(
  db: Database,
  { assetId, path, limit }: { assetId: string; path: string; limit: number },
) {
  return db
    .selectFrom('asset_files')
    .innerJoin('revisions', (join) =>
      join
        .onRef('revisions.asset_id', '=', 'asset_files.asset_id')
        .onRef('revisions.number', '=', 'asset_files.first_number'),
    )
    .select(['revisions.id', 'revisions.number', 'revisions.created_at', 'sha256', 'size_bytes'])
    .where('asset_files.asset_id', '=', assetId)
    .where('path', '=', path)
    .orderBy('revisions.number', 'desc')
    .limit(limit)
    .execute();
}
