import type { Transaction } from '../../platform/db/database.ts';
import { deleteUserNotifications } from './queries.ts';

/** Step: removes what a deleted user was notified of. */
export async function forgetNotifications(tx: Transaction, userId: string): Promise<void> {
  await deleteUserNotifications(tx, userId);
}
