import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { selectReadableIds } from './access/select-readable-ids.ts';

/**
 * Step: keeps the assets from being deleted, and from being closed to the user, until the transaction ends, so that what it
 * writes is seen by whoever wants to do so. Throws AppError('not_found') when one is gone, or closed, already.
 */
export async function keepAssets(
  tx: Transaction,
  { ids, userId }: { ids: string[]; userId: string },
): Promise<void> {
  const wanted = [...new Set(ids)].sort();
  await tx.selectFrom('assets').select('id').where('id', 'in', wanted).orderBy('id').forKeyShare().execute();
  // Only now, so that it sees what those did whom it had to wait for.
  const readable = await selectReadableIds(tx, { ids: wanted, userId });
  if (readable.size < wanted.length) throw new AppError('not_found', { publicMessage: 'Asset not found' });
}
