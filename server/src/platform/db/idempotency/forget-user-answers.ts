import type { Transaction } from '../database.ts';

/** Step: removes what a deleted user was answered: nobody repeats the calls. */
export async function forgetUserAnswers(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('user_id', '=', userId).execute();
}
