import type { compareCommits as endpoint } from '@bakehouse/contract/asset-commits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { selectDifferences } from './difference-queries.ts';
import { findPair, type WantedPair } from './find-pair.ts';
import { toWireCommit } from './to-wire-commit.ts';

const FILES_MAX = 1000;

/** The files that differ between two commits. Throws what `findPair` throws. */
export async function compareCommits(ctx: Context, wanted: WantedPair): Promise<ResponseOf<typeof endpoint>> {
  const { asset, from, to } = await findPair(ctx, wanted);
  const { files, counts } = await selectDifferences(ctx.db, {
    assetId: asset.id,
    before: from.number,
    after: to.number,
    limit: FILES_MAX,
  });
  return {
    from: toWireCommit(from),
    to: toWireCommit(to),
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
