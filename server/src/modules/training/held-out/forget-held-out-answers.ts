import type { Transaction } from '../../../platform/db/database.ts';
import { deleteHeldOutAnswers } from './queries.ts';

/** Step: deletes the stored answers to rows of a user's datasets. */
export async function forgetHeldOutAnswers(tx: Transaction, userId: string): Promise<void> {
  await deleteHeldOutAnswers(tx, userId);
}
