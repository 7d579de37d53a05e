import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { lockChangeableAsset } from './find-asset.ts';
import { isForeignKeyError } from './is-foreign-key-error.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { deleteAssetRow } from './queries.ts';

/**
 * Asked before an asset is deleted, inside that transaction, by the modules whose work uses
 * assets. Answers with the sentence that says what uses it, or null.
 */
export type FindAssetUse = (tx: Transaction, input: { assetId: string }) => Promise<string | null>;

/**
 * Deletes the asset with all its revisions; its bytes go once nothing else refers to them. Throws
 * AppError('conflict') while a run or a deployment uses it.
 */
export async function deleteAsset(
  ctx: Context,
  input: { assetId: string; findUses: FindAssetUse[] },
): Promise<void> {
  const { assetId } = input;
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    await lockChangeableAsset(tx, { assetId, userId });
    for (const findUse of input.findUses) {
      const use = await findUse(tx, { assetId });
      if (use) throw new AppError('conflict', { publicMessage: use });
    }
    try {
      await deleteAssetRow(tx, assetId);
    } catch (error) {
      if (!isForeignKeyError(error)) throw error;
      throw new AppError('conflict', { publicMessage: 'This asset is in use', cause: error });
    }
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
    await ctx.jobs.enqueue(tx, collectBlobsJob, {});
  });
}
