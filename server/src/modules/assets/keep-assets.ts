import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { selectReadableIds } from './access/select-readable-ids.ts';

/**
 * Step: prevents the assets from being deleted, or closed to the user, until the transaction ends, so that
 * such a change sees what the transaction writes. Throws AppError 'not_found' if an asset is already deleted
 * or closed.
 */
export async function keepAssets(
  tx: Transaction,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<void> {
  const wanted = [...new Set(ids)].sort();
  await tx.selectFrom('assets').select('id').where('id', 'in', wanted).orderBy('id').forKeyShare().execute();
  // Check after locking, to see the changes of transactions that this one waited for.
  const readable = await selectReadableIds(tx, { ids: wanted, userId });
  if (readable.size < wanted.length) throw new AppError('not_found', { publicMessage: 'Asset not found' });
}
