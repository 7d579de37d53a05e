import type { Transaction } from '../../platform/db/database.ts';
import { deleteClonesOf } from './clone/queries.ts';
import { deleteToken } from './public/token-queries.ts';
import { deleteUserXorbs } from './stored-xorbs.ts';

/** Step: deletes a user's clones, with their copied files, their token for the public hub, and their uploads. */
export async function deleteHubData(tx: Transaction, userId: string): Promise<void> {
  await deleteClonesOf(tx, userId);
  await deleteToken(tx, userId);
  await deleteUserXorbs(tx, userId);
}
