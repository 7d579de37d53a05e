import type { Transaction } from '../../platform/db/database.ts';
import { deleteClonesOf } from './clone/queries.ts';
import { deleteToken } from './public/token-queries.ts';

/** Step: removes a user's clones, with what they have copied so far, and their token of the public hub. */
export async function forgetHub(tx: Transaction, userId: string): Promise<void> {
  await deleteClonesOf(tx, userId);
  await deleteToken(tx, userId);
}
