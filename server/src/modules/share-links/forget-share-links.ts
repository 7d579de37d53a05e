import type { Transaction } from '../../platform/db/database.ts';
import { deleteLinksOf } from './queries.ts';

/** Step: removes what a user shares by links. */
export async function forgetShareLinks(tx: Transaction, userId: string): Promise<void> {
  await deleteLinksOf(tx, userId);
}
