import type { Transaction } from '../../../platform/db/database.ts';
import { deleteUserKeys, deleteUserSteps } from './deletion-queries.ts';

/** Step: removes what the row of a deleted user still had. */
export async function forgetAccount(tx: Transaction, userId: string): Promise<void> {
  await deleteUserKeys(tx, userId);
  await deleteUserSteps(tx, userId);
}
