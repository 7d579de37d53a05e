import type { Transaction } from '../../../platform/db/database.ts';
import { type AssetRow, lockAsset } from '../queries.ts';
import { findChangeableAsset } from './find-changeable-asset.ts';

/** Step: locks and returns an asset that the user may change, so that changes to one asset are sequential. */
export async function lockChangeableAsset(
  tx: Transaction,
  who: { assetId: string; userId: string },
): Promise<AssetRow> {
  await lockAsset(tx, who.assetId);
  return findChangeableAsset(tx, who);
}
