import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { lockChangeableAsset } from './access/lock-changeable-asset.ts';
import type { FindAssetUse } from './asset-use.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { purgeAsset } from './purge-asset.ts';
import { removeAsset } from './remove-asset.ts';

/**
 * Deletes the asset with all its revisions; its bytes go once nothing else refers to them. Throws
 * AppError('conflict') while a run or a deployment uses it, or a model that was fine-tuned from it, or uploaded as an adapter of
 * it, is there: that one holds only what it has learnt, and cannot be served without its base. Others' models keep it only
 * while their owners may read it.
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
  // What is left of a large one is the job's work, as is all of it where this fails: the asset is deleted.
  await purgeAsset(ctx.db, { assetId }).catch((error: unknown) =>
    ctx.log.warn({ err: error, asset_id: assetId }, 'the rows of a deleted asset are left to the job'),
  );
}
