import type { Transaction } from '../../platform/db/database.ts';
import { deleteAcceptances } from './queries.ts';

/** Step: removes what a deleted user has accepted. */
export async function forgetAcceptances(tx: Transaction, userId: string): Promise<void> {
  await deleteAcceptances(tx, userId);
}
