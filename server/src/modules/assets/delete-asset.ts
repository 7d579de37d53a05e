import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { lockChangeableAsset } from './access/lock-changeable-asset.ts';
import type { FindAssetUse } from './asset-use.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { purgeAsset } from './purge-asset.ts';
import { removeAsset } from './remove-asset.ts';

/**
 * Deletes the asset with all its revisions, and its bytes once nothing else refers to them. Throws AppError
 * 'conflict' while a run or a deployment uses it, or while a model depends on it: a fine-tune or an uploaded
 * adapter cannot be served without its base. Other users' models only count while their owners may read the
 * base.
 */
export async function deleteAsset(
  ctx: Context,
  input: { assetId: string; findUses: FindAssetUse[] },
): Promise<void> {
  const { assetId } = input;
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId, userId });
    await removeAsset(tx, { asset, userId, findUses: input.findUses });
    await ctx.jobs.enqueue(tx, collectBlobsJob, {});
  });
  // The asset is deleted already: the job deletes the rest of a large asset, or everything if this fails.
  await purgeAsset(ctx.db, { assetId }).catch((error: unknown) =>
    ctx.log.warn({ err: error, asset_id: assetId }, 'failed to purge a deleted asset; the job will retry'),
  );
}
