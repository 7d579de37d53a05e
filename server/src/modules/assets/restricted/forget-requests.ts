import type { Transaction } from '../../../platform/db/database.ts';
import { deleteUserRequests } from './queries.ts';

/** Step: deletes the access requests of a deleted user, granted or not. */
export async function forgetRequests(tx: Transaction, userId: string): Promise<void> {
  await deleteUserRequests(tx, userId);
}
