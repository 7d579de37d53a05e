import type { Transaction } from '../../../platform/db/database.ts';
import { deleteUserConfigurations } from './configuration-queries.ts';

/** Step: removes what a deleted user had saved for later runs. */
export async function forgetConfigurations(tx: Transaction, userId: string): Promise<void> {
  await deleteUserConfigurations(tx, userId);
}
