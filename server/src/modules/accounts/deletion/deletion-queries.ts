import type { Database, Transaction } from '../../../platform/db/database.ts';

/* The SQL of the end of an account. */

/** Takes from a user's row all that says whose it was. */
export async function anonymiseUser(
  tx: Transaction,
  { userId, username, now }: { userId: string; username: string; now: Date },
): Promise<void> {
  await tx
    .updateTable('users')
    .set({
      username,
      name: 'Deleted user',
      // A domain that no mail reaches.
      email: `${username}@deleted.invalid`,
      email_verified: false,
      image: null,
      deleted_at: now,
    })
    .where('id', '=', userId)
    .execute();
}

export async function selectToPurge(db: Database): Promise<string[]> {
  const rows = await db
    .selectFrom('users')
    .select('id')
    .where('deleted_at', 'is not', null)
    .where('purged_at', 'is', null)
    .orderBy('deleted_at')
    .execute();
  return rows.map(({ id }) => id);
}

export async function setPurged(tx: Transaction, userId: string, now: Date): Promise<void> {
  await tx.updateTable('users').set({ purged_at: now }).where('id', '=', userId).execute();
}

export async function deleteUserKeys(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('user_id', '=', userId).execute();
}

export async function deleteUserSteps(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('onboarding_steps').where('user_id', '=', userId).execute();
}
