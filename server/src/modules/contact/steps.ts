import type { Context } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';

/** Returns the caller's messages to the operators, oldest first. */
export async function listOwnMessages({ db, caller }: Context) {
  return db
    .selectFrom('contact_messages')
    .select(['subject', 'message', 'status', 'created_at'])
    .where('user_id', '=', caller.userId)
    .orderBy('id')
    .execute();
}

/** Deletes the messages of a deleted user. */
export async function forgetMessages(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('contact_messages').where('user_id', '=', userId).execute();
}
