import type { Transaction } from '../../platform/db/database.ts';
import { deleteUserMessages } from './queries.ts';

/** Step: removes what a deleted user has written to the operators. */
export async function forgetMessages(tx: Transaction, userId: string): Promise<void> {
  await deleteUserMessages(tx, userId);
}
