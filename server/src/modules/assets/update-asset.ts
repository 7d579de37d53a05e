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
import { updateAssetRow } from './queries.ts';

/** Changes what describes an asset; what is absent stays. */
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
    await updateAssetRow(tx, assetId, { ...words, price_micro: price });
    await recordAudit(tx, { userId, action: 'asset.changed', detail: { asset_id: assetId } });
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
  });
  return getAsset(ctx, { assetId });
}
