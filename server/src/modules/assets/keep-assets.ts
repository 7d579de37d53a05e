import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';

/**
 * Step: keeps the assets from being deleted until the transaction ends, so that what it writes is
 * seen by whoever wants to delete them. Throws AppError('not_found') when one is gone already.
 */
export async function keepAssets(tx: Transaction, assetIds: string[]): Promise<void> {
  const wanted = [...new Set(assetIds)].sort();
  const rows = await tx
    .selectFrom('assets')
    .select('id')
    .where('id', 'in', wanted)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .forKeyShare()
    .execute();
  if (rows.length < wanted.length) throw new AppError('not_found', { publicMessage: 'Asset not found' });
}
