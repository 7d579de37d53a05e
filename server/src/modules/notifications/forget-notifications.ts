import type { Transaction } from '../../platform/db/database.ts';

/** Deletes the notifications of a deleted user. */
export async function forgetNotifications(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('notifications').where('user_id', '=', userId).execute();
}
