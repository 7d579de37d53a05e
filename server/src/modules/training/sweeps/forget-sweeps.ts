import type { Transaction } from '../../../platform/db/database.ts';
import { deleteSweepsOf } from './sweep-queries.ts';

/** Step: deletes the sweeps of a deleted user. */
export async function forgetSweeps(tx: Transaction, userId: string): Promise<void> {
  await deleteSweepsOf(tx, userId);
}
