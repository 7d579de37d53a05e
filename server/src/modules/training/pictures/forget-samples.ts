import type { Transaction } from '../../../platform/db/database.ts';
import { deleteSamples } from './sample-queries.ts';

/** Step: removes what a user's runs have drawn. */
export async function forgetSamples(tx: Transaction, userId: string): Promise<void> {
  await deleteSamples(tx, userId);
}
