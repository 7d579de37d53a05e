import type { Transaction } from '../../../platform/db/database.ts';
import { deleteCheckpoints } from './checkpoint-queries.ts';
import { deleteSamples } from './sample-queries.ts';

/** Step: removes what a user's runs have drawn, and the LoRAs that have drawn it. */
export async function forgetSamples(tx: Transaction, userId: string): Promise<void> {
  await deleteSamples(tx, userId);
  await deleteCheckpoints(tx, userId);
}
