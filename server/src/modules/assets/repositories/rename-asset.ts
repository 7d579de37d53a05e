import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/lock-changeable-asset.ts';
import { setName } from './repository-queries.ts';
import { takeName } from './take-name.ts';

/** Renames an asset of the caller for the hub's clients. Throws AppError 'conflict' for a taken name. */
export async function renameAsset(
  ctx: Context,
  { assetId, name }: { assetId: string; name: string },
): Promise<void> {
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId, userId });
    const type = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
    const isSame = asset.name.toLowerCase() === name.toLowerCase();
    if (!isSame && !(await takeName(tx, { userId, type, name })))
      throw new AppError('conflict', {
        publicMessage: `You have a ${type} ${name} already`,
        param: 'toRepo',
      });
    await setName(tx, assetId, name);
    await recordAudit(tx, { userId, action: 'asset.renamed', detail: { asset_id: assetId, name } });
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
  });
}
