import type { Transaction } from '../../../platform/db/database.ts';
import { type AssetRow, lockAsset } from '../queries.ts';
import { findChangeableAsset } from './find-changeable-asset.ts';

/** Step: the asset that the user may change, held until the transaction ends, so that changes to one asset follow one another. */
export async function lockChangeableAsset(
  tx: Transaction,
  who: { assetId: string; userId: string },
): Promise<AssetRow> {
  await lockAsset(tx, who.assetId);
  return findChangeableAsset(tx, who);
}
