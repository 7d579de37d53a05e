import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { type AssetRow, findAsset, lockAsset } from './queries.ts';

type Who = { assetId: string; userId: string };

/** The asset, if the user may read it: their own, or a starter model. Else it is as if it were not there. */
export async function findReadableAsset(
  db: Database | Transaction,
  { assetId, userId }: Who,
): Promise<AssetRow> {
  const asset = await findAsset(db, assetId);
  if (!asset || (asset.owner_user_id !== userId && !asset.is_starter)) {
    throw new AppError('not_found', { publicMessage: 'Asset not found' });
  }
  return asset;
}

/** The asset, if the user may change it: their own. Starter models are changed by nobody. */
export async function findChangeableAsset(db: Database | Transaction, who: Who): Promise<AssetRow> {
  const asset = await findReadableAsset(db, who);
  if (asset.is_starter)
    throw new AppError('forbidden', { publicMessage: 'Starter models cannot be changed' });
  return asset;
}

/** The same, held until the transaction ends, so that changes to one asset follow one another. */
export async function lockChangeableAsset(tx: Transaction, who: Who): Promise<AssetRow> {
  await lockAsset(tx, who.assetId);
  return findChangeableAsset(tx, who);
}
