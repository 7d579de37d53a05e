import type { Transaction } from '../../platform/db/database.ts';
import { deleteClonesOf } from './clone/queries.ts';
import { deleteToken } from './public/token-queries.ts';

/** Step: deletes a user's clones, with their copied files, and their token for the public hub. */
export async function deleteHubData(tx: Transaction, userId: string): Promise<void> {
  await deleteClonesOf(tx, userId);
  await deleteToken(tx, userId);
}
