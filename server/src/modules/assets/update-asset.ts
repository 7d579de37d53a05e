import type { Asset, updateAsset as endpoint } from '@bakehouse/contract/assets';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { MODEL_NAME_LENGTH_MIN } from '@bakehouse/contract/limits';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { lockChangeableAsset } from './find-asset.ts';
import { getAsset } from './get-asset.ts';
import { updateAssetWords } from './queries.ts';

/** Changes title, details, category or tags; what is absent stays. */
export async function updateAsset(
  ctx: Context,
  input: { assetId: string; words: InputOf<typeof endpoint>['body'] },
): Promise<Asset> {
  const { assetId, words } = input;
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
    await updateAssetWords(tx, assetId, words);
    await publishChange(tx, userId, { topic: 'asset', id: assetId });
  });
  return getAsset(ctx, { assetId });
}
