import type { Database } from '../../../../platform/db/database.ts';

/** Returns the number of a revision of this asset. */
export async function findRevisionNumber(
  db: Database,
  assetId: string,
  revisionId: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom('revisions')
    .select('number')
    .where('asset_id', '=', assetId)
    .where('id', '=', revisionId)
    .executeTakeFirst();
  return row?.number;
}

/** Returns the versions of a path with their revisions, newest first, before the number `before`. */
export async function selectVersions(
  db: Database,
  {
    assetId,
    path,
    before,
    limit,
  }: { assetId: string; path: string; before: number | undefined; limit: number },
) {
  return (
    db
      .selectFrom('asset_files')
      .innerJoin('revisions', (join) =>
        join
          .onRef('revisions.asset_id', '=', 'asset_files.asset_id')
          .onRef('revisions.number', '=', 'asset_files.first_number'),
      )
      .select(['revisions.id', 'revisions.number', 'revisions.created_at', 'sha256', 'size_bytes'])
      .where('asset_files.asset_id', '=', assetId)
      .where('path', '=', path)
      // Excludes revisions of branches.
      .where('revisions.number', '>', 0)
      .$if(before !== undefined, (query) => query.where('revisions.number', '<', before ?? 0))
      .orderBy('revisions.number', 'desc')
      .limit(limit)
      .execute()
  );
}
