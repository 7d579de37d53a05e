import type { AssetCommit, compareCommits as endpoint } from '@bakehouse/contract/asset-commits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { selectDifferences } from './difference-queries.ts';
import { findPair, type WantedPair } from './find-pair.ts';
import { toWireCommits } from './to-wire-commit.ts';

const FILES_MAX = 1000;

/** The files that differ between two commits. Throws what `findPair` throws. */
export async function compareCommits(ctx: Context, wanted: WantedPair): Promise<ResponseOf<typeof endpoint>> {
  const { asset, ...pair } = await findPair(ctx, wanted);
  const { files, counts } = await selectDifferences(ctx.db, {
    assetId: asset.id,
    before: pair.from.number,
    after: pair.to.number,
    limit: FILES_MAX,
  });
  const [from, to] = (await toWireCommits(ctx.db, [pair.from, pair.to])) as [AssetCommit, AssetCommit];
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
