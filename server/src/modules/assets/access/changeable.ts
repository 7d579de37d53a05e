import type { Database, Transaction } from '../../../platform/db/database.ts';
import { forbidden } from '../../../platform/errors.ts';
import { type AssetRow, lockAsset } from '../queries.ts';
import { findReadableAsset } from './find-readable-asset.ts';

/** Returns an asset that the user may change: only an own asset. No user can change starter models. */
export async function findChangeableAsset(
  db: Database | Transaction,
  who: { assetId: string; userId: string },
): Promise<AssetRow> {
  const asset = await findReadableAsset(db, who);
  if (asset.is_starter) throw forbidden('Starter models cannot be changed');
  if (asset.owner_user_id !== who.userId) {
    const what = asset.dataset_type === 'MODEL' ? 'model' : 'dataset';
    throw forbidden(`Only its owner can change this ${what}`);
  }
  return asset;
}

/** Step: locks and returns an asset that the user may change, so that changes to one asset are sequential. */
export async function lockChangeableAsset(
  tx: Transaction,
  who: { assetId: string; userId: string },
): Promise<AssetRow> {
  await lockAsset(tx, who.assetId);
  return findChangeableAsset(tx, who);
}
