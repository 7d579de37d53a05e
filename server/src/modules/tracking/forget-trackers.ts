import type { Transaction } from '../../platform/db/database.ts';
import { deleteUserTrackers } from './tracker-queries.ts';

/** Step: removes what a deleted user had connected, with the keys. */
export async function forgetTrackers(tx: Transaction, userId: string): Promise<void> {
  await deleteUserTrackers(tx, userId);
}
