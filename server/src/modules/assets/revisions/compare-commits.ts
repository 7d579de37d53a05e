import type {
  AssetCommit,
  compareCommits as compareCommitsEndpoint,
} from '@bakehouse/contract/asset-commits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { sql } from 'kysely';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { notFoundError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { findCommit, listCommits, toWireCommits } from './commits.ts';

const FILES_MAX = 1000;

/**
 * Returns the files that differ between a commit and its parent. Throws AppError 'not_found' unless the
 * caller may read the asset and it has the commit.
 */
export async function compareCommits(
  ctx: Context,
  { assetId, to: name }: { assetId: string; to: string },
): Promise<ResponseOf<typeof compareCommitsEndpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const commit = await findCommit(ctx.db, asset, name);
  if (!commit) throw notFoundError(`There is no commit ${name}`, { param: 'to' });
  const [earlier = commit] = await listCommits(ctx.db, asset, { from: commit.number, skip: 1, limit: 1 });
  const { files, counts } = await selectDifferences(ctx.db, {
    assetId: asset.id,
    before: earlier.number,
    after: commit.number,
    limit: FILES_MAX,
  });
  const [from, to] = (await toWireCommits(ctx.db, [earlier, commit])) as [AssetCommit, AssetCommit];
  return {
    from,
    to,
    added_count: counts.added,
    removed_count: counts.removed,
    changed_count: counts.changed,
    files: files.map(({ path, before, after }) => ({
      path,
      change: before === null ? 'added' : after === null ? 'removed' : 'changed',
      size_before: before,
      size_after: after,
    })),
  };
}

type Wanted = { assetId: string; before: number; after: number; limit: number };

type Row = {
  path: string;
  before: bigint | null;
  after: bigint | null;
  added: bigint;
  removed: bigint;
  changed: bigint;
};

/** A file that differs, with its sizes before and after; null if it is missing on that side. */
type Difference = { path: string; before: number | null; after: number | null };

/** Returns the files that differ between two revisions by number, in path order, with counts. */
async function selectDifferences(
  db: Database,
  { assetId, before, after, limit }: Wanted,
): Promise<{ files: Difference[]; counts: { added: number; removed: number; changed: number } }> {
  const { rows } = await sql<Row>`
    with one_side as (
      select path, sha256, size_bytes,
        first_number <= ${before} and (last_number is null or last_number >= ${before}) as is_before,
        first_number <= ${after} and (last_number is null or last_number >= ${after}) as is_after
      from asset_files where asset_id = ${assetId}
    ), pairs as (
      select path, b.size_bytes as before, a.size_bytes as after
      from (select * from one_side where is_before and not is_after) b
      full join (select * from one_side where is_after and not is_before) a using (path)
      where a.sha256 is distinct from b.sha256
    )
    select path, before, after,
      count(*) filter (where before is null) over () as added,
      count(*) filter (where after is null) over () as removed,
      count(*) filter (where before is not null and after is not null) over () as changed
    from pairs order by path limit ${limit}`.execute(db);
  const [first] = rows;
  return {
    files: rows.map((row) => ({
      path: row.path,
      before: toNumber(row.before),
      after: toNumber(row.after),
    })),
    counts: {
      added: Number(first?.added ?? 0),
      removed: Number(first?.removed ?? 0),
      changed: Number(first?.changed ?? 0),
    },
  };
}

function toNumber(bytes: bigint | null): number | null {
  return bytes === null ? null : Number(bytes);
}
