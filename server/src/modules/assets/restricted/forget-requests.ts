import type { Transaction } from '../../../platform/db/database.ts';
import { deleteUserRequests } from './queries.ts';

/** Step: removes what a deleted user has asked access to, granted or not. */
export async function forgetRequests(tx: Transaction, userId: string): Promise<void> {
  await deleteUserRequests(tx, userId);
}
