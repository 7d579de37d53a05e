import type { Database, Transaction } from '../../../platform/db/database.ts';
import { notFound } from '../../../platform/errors.ts';
import { type AssetRow, selectAssets } from '../queries.ts';
import { isReadableBy } from './readable.ts';

/**
 * Returns the asset if the user may read it. Throws AppError 'not_found' otherwise, as for a missing asset,
 * with the field `param` if given.
 */
export async function findReadableAsset(
  db: Database | Transaction,
  { assetId, userId, param }: { assetId: string; userId: string; param?: string | undefined },
): Promise<AssetRow> {
  const asset = await selectAssets(db)
    .where('assets.id', '=', assetId)
    .where(isReadableBy(userId))
    .executeTakeFirst();
  if (!asset) throw notFound('Asset', param);
  return asset;
}
