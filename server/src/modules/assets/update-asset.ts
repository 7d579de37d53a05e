import type { Asset, updateAsset as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { MODEL_NAME_LENGTH_MIN } from '@bakehouse/contract/limits';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { lockChangeableAsset } from './access/lock-changeable-asset.ts';
import { getAsset } from './get-asset.ts';
import { type AssetRow, updateAssetRow } from './queries.ts';

/** Changes an asset's description; absent fields stay unchanged. */
export async function updateAsset(
  ctx: Context,
  input: { assetId: string; changes: InputOf<typeof endpoint>['body'] },
): Promise<Asset> {
  const { assetId } = input;
  const { price, user_id: _, ...words } = input.changes;
  const { userId } = ctx.caller;
  await inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId, userId });
    if (
      asset.dataset_type === 'MODEL' &&
      words.title !== undefined &&
      words.title.length < MODEL_NAME_LENGTH_MIN
    ) {
      throw new AppError('invalid_request', {
        publicMessage: `Model name must have at least ${MODEL_NAME_LENGTH_MIN} characters`,
        param: 'title',
      });
    }
    const isPublished = words.is_published ?? asset.is_published;
    const isMoved = isPublished !== asset.is_published;
    if (isMoved && isPublished) refuseRestricted(asset);
    await updateAssetRow(tx, assetId, { ...words, price_micro: price });
    const action = isPublished ? 'asset.published' : 'asset.unpublished';
    if (isMoved) await recordAudit(tx, { userId, action, detail: { asset_id: assetId } });
    if (!isMoved || Object.keys(input.changes).some((key) => !['is_published', 'user_id'].includes(key)))
      await recordAudit(tx, { userId, action: 'asset.changed', detail: { asset_id: assetId } });
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
  });
  return getAsset(ctx, { assetId });
}

/** Publishing would open the model to users without a grant. */
function refuseRestricted({ title, is_restricted: isRestricted }: AssetRow): void {
  if (!isRestricted) return;
  throw new AppError('conflict', {
    publicMessage: `${title} is a restricted model: access to it is granted one by one. Remove the restriction to publish it`,
    param: 'is_published',
  });
}
