import type { Transaction } from '../../../platform/db/database.ts';
import { deleteCheckpoints } from './checkpoint-queries.ts';
import { deleteSamples } from './sample-queries.ts';

/** Step: deletes the samples of a user's runs and the LoRAs of their checkpoints. */
export async function forgetSamples(tx: Transaction, userId: string): Promise<void> {
  await deleteSamples(tx, userId);
  await deleteCheckpoints(tx, userId);
}
