import type { Transaction } from '../../platform/db/database.ts';
import { chargeAnswers } from './hold-for-answers.ts';
import { deleteBatchesOf, lockOpenBatches } from './queries.ts';

/** Step: settles a deleted user's batches at their current cost, and deletes all of them. */
export async function forgetBatches(tx: Transaction, userId: string): Promise<void> {
  for (const batch of await lockOpenBatches(tx, userId)) await chargeAnswers(tx, batch);
  await deleteBatchesOf(tx, userId);
}
