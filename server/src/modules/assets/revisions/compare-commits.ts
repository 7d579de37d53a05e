import type { AssetCommit, compareCommits as endpoint } from '@bakehouse/contract/asset-commits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { selectDifferences } from './difference-queries.ts';
import { findCommit } from './find-commit.ts';
import { listCommits } from './list-commits.ts';
import { toWireCommits } from './to-wire-commit.ts';

const FILES_MAX = 1000;

/**
 * Returns the files that differ between a commit and its parent. Throws AppError 'not_found' unless the
 * caller may read the asset and it has the commit.
 */
export async function compareCommits(
  ctx: Context,
  { assetId, to: name }: { assetId: string; to: string },
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const commit = await findCommit(ctx.db, asset, name);
  if (!commit) throw new AppError('not_found', { publicMessage: `There is no commit ${name}`, param: 'to' });
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
