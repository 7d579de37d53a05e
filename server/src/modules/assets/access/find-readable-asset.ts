import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { type AssetRow, findAsset } from '../queries.ts';
import { isGranted } from '../restricted/queries.ts';

/**
 * The asset, if the user may read it: their own, a starter model, or a restricted model that they were granted access to.
 * Else it is as if it were not there, which is said of the field `param`, where it came in one.
 */
export async function findReadableAsset(
  db: Database | Transaction,
  { assetId, userId, param }: { assetId: string; userId: string; param?: string | undefined },
): Promise<AssetRow> {
  const asset = await findAsset(db, assetId);
  const isOpen = asset?.owner_user_id === userId || asset?.is_starter;
  if (!asset || (!isOpen && !(await isGranted(db, { assetId, userId })))) {
    throw new AppError('not_found', { publicMessage: 'Asset not found', param });
  }
  return asset;
}
