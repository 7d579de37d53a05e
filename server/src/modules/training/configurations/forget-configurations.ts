import type { Transaction } from '../../../platform/db/database.ts';
import { deleteUserConfigurations } from './configuration-queries.ts';

/** Step: deletes the saved configurations of a deleted user. */
export async function forgetConfigurations(tx: Transaction, userId: string): Promise<void> {
  await deleteUserConfigurations(tx, userId);
}
