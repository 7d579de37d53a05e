import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import type { AssetRow } from '../queries.ts';
import { type Commit, findCommit } from './find-commit.ts';
import { listCommits } from './list-commits.ts';

/** Two commits of an asset, by what names them. Left out, `from` is the one before `to`. */
export type WantedPair = { assetId: string; from?: string | undefined; to: string };

/** Throws AppError('not_found') unless the caller may read the asset, and for a commit that it does not have. */
export async function findPair(
  ctx: Context,
  { assetId, from, to }: WantedPair,
): Promise<{ asset: AssetRow; from: Commit; to: Commit }> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const later = await requireCommit(ctx, asset, { name: to, param: 'to' });
  if (from !== undefined)
    return { asset, from: await requireCommit(ctx, asset, { name: from, param: 'from' }), to: later };
  const [before] = await listCommits(ctx.db, asset, { from: Math.max(0, later.number - 1), limit: 1 });
  return { asset, from: before ?? later, to: later };
}

async function requireCommit(
  ctx: Context,
  asset: AssetRow,
  { name, param }: { name: string; param: string },
): Promise<Commit> {
  const commit = await findCommit(ctx.db, asset, name);
  if (commit) return commit;
  throw new AppError('not_found', { publicMessage: `There is no commit ${name}`, param });
}
