import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import type { AssetRow } from '../queries.ts';
import { findReadableAsset } from './find-readable-asset.ts';

/** The asset, if the user may change it: their own. Starter models are changed by nobody. */
export async function findChangeableAsset(
  db: Database | Transaction,
  who: { assetId: string; userId: string },
): Promise<AssetRow> {
  const asset = await findReadableAsset(db, who);
  if (asset.is_starter)
    throw new AppError('forbidden', { publicMessage: 'Starter models cannot be changed' });
  if (asset.owner_user_id !== who.userId) {
    const what = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
    throw new AppError('forbidden', { publicMessage: `Only its owner can change this ${what}` });
  }
  return asset;
}
