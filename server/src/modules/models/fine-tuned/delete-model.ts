import type { deleteModel as endpoint } from '@bakehouse/contract/chat';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import type { FindAssetUse } from '../../assets/asset-use.ts';
import { deleteAsset } from '../../assets/delete-asset.ts';
import { findFineTune } from './steps.ts';

/**
 * Deletes a fine-tune of the caller. Throws AppError 'model_not_found' for any other model, and whatever
 * `deleteAsset` throws.
 */
export async function deleteModel(
  ctx: Context,
  { model, findUses }: { model: string; findUses: FindAssetUse[] },
): Promise<ResponseOf<typeof endpoint>> {
  const found = await findFineTune(ctx.db, { userId: ctx.caller.userId, name: model });
  if (!found) {
    const publicMessage = `You have no fine-tune '${model}', and only fine-tunes can be deleted here`;
    throw new AppError('model_not_found', { publicMessage, param: 'model' });
  }
  await deleteAsset(ctx, { assetId: found.assetId, findUses });
  return { id: model, object: 'model', deleted: true };
}
