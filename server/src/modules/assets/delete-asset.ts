import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { lockChangeableAsset } from './access/lock-changeable-asset.ts';
import { endUploadsOf } from './files/upload/parts/queries.ts';
import { collectBlobsJob } from './jobs/collect-blobs.ts';
import { purgeAsset } from './purge-asset.ts';
import { listDependentModels, markDeleted } from './queries.ts';

/**
 * Asked before an asset is deleted, inside that transaction, by the modules whose work uses
 * assets. Answers with the sentence that says what uses it, or null.
 */
export type FindAssetUse = (tx: Transaction, input: { assetId: string }) => Promise<string | null>;

/** Models that a refusal names. */
const NAMED_MAX = 3;

/**
 * Deletes the asset with all its revisions; its bytes go once nothing else refers to them. Throws
 * AppError('conflict') while a run or a deployment uses it, or a model that was fine-tuned from it, or uploaded as an adapter of
 * it, is there: that one holds only what it has learnt, and cannot be served without its base.
 */
export async function deleteAsset(
  ctx: Context,
  input: { assetId: string; findUses: FindAssetUse[] },
): Promise<void> {
  const { assetId } = input;
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const { title } = await lockChangeableAsset(tx, { assetId, userId });
    for (const findUse of [...input.findUses, findDependentOf]) {
      const use = await findUse(tx, { assetId });
      if (use) throw new AppError('conflict', { publicMessage: use });
    }
    await markDeleted(tx, assetId);
    await endUploadsOf(tx, assetId);
    await recordAudit(tx, { userId, action: 'asset.deleted', detail: { asset_id: assetId, title } });
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
    await ctx.jobs.enqueue(tx, collectBlobsJob, {});
  });
  // What is left of a large one is the job's work, as is all of it where this fails: the asset is deleted.
  await purgeAsset(ctx.db, { assetId }).catch((error: unknown) =>
    ctx.log.warn({ err: error, asset_id: assetId }, 'the rows of a deleted asset are left to the job'),
  );
}

const findDependentOf: FindAssetUse = async (tx, { assetId }) => {
  const { titles, count } = await listDependentModels(tx, assetId, NAMED_MAX);
  if (count === 0) return null;
  const names = titles.map((title) => `'${title}'`);
  if (count > titles.length) names.push(`${count - titles.length} more`);
  const list = new Intl.ListFormat('en-GB').format(names);
  return count === 1
    ? `${list} cannot work without it. Delete that model first.`
    : `${list} cannot work without it. Delete these models first.`;
};
