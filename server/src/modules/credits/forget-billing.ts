import type { Transaction } from '../../platform/db/database.ts';
import { stopWatching } from './low-balance-queries.ts';
import { deleteReceipts } from './purchases/purchase-queries.ts';

/** Step: a deleted user is not warned of a low balance, and no link leads to a receipt with their name any more. */
export async function forgetBilling(tx: Transaction, userId: string): Promise<void> {
  await stopWatching(tx, userId);
  await deleteReceipts(tx, userId);
}
