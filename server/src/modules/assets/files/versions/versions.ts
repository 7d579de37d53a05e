import type { listFileVersions as listFileVersionsEndpoint } from '@bakehouse/contract/data-files';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../platform/context.ts';
import type { Database } from '../../../../platform/db/database.ts';
import { unknownCursor } from '../../../../platform/errors.ts';
import { findReadableAsset } from '../../access/find-readable-asset.ts';

/** Lists revisions with changes to a file, newest first; the cursor is the previous page's last one. */
export async function listVersions(
  ctx: Context,
  { params, query: { path, limit, cursor } }: InputOf<typeof listFileVersionsEndpoint>,
): Promise<ResponseOf<typeof listFileVersionsEndpoint>> {
  const { id: assetId } = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const before = cursor === undefined ? undefined : await findRevisionNumber(ctx.db, assetId, cursor);
  if (cursor !== undefined && before === undefined) throw unknownCursor();
  const found = await selectVersions(ctx.db, { assetId, path, before, limit: limit + 1 });
  const rows = found.slice(0, limit);
  return {
    versions: rows.map(({ id, number, created_at, sha256, size_bytes }) => ({
      revision_id: id,
      number,
      created_at: created_at.toISOString(),
      sha256,
      size_bytes: Number(size_bytes),
    })),
    next_cursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}

/** Returns the number of a revision of this asset. */
async function findRevisionNumber(
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
async function selectVersions(
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
