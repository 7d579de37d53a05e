import { defineJob } from '../../jobs/define-job.ts';
import type { Transaction } from '../database.ts';
import { deleteBefore } from '../retention/delete-before.ts';

/** A call can be repeated with its idempotency key for this long. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Deletes stored answers that have expired. */
export const deleteExpiredAnswersJob = defineJob({
  name: 'platform.forget-answers',
  schedule: '17 3 * * *',
  run: async ({ db, clock }) => {
    const time = new Date(clock.now().getTime() - KEPT_MS);
    await deleteBefore(db, 'idempotency_keys', { column: 'created_at', time });
  },
});

/** Transaction step: deletes the stored answers of a deleted user. */
export async function deleteUserAnswers(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('user_id', '=', userId).execute();
}
