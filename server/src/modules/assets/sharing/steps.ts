import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { closeAssetsOf, deleteSharesWith, selectSharedWith } from './queries.ts';

/** What others share with the caller, oldest first. */
export async function listSharedWithCaller({ db, caller }: Context) {
  return selectSharedWith(db, caller.userId);
}

/** Step: of a deleted user nothing is shared or published any more, and with them nothing is shared. */
export async function forgetShares(tx: Transaction, userId: string): Promise<void> {
  await deleteSharesWith(tx, userId);
  await closeAssetsOf(tx, userId);
}
