import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { closeAssetsOf, deleteSharesWith, selectSharedWith } from './queries.ts';

/** Returns the assets that others share with the caller, oldest share first. */
export async function listSharedWithCaller({ db, caller }: Context) {
  return selectSharedWith(db, caller.userId);
}

/** Step: ends all sharing and publishing by a deleted user, and all shares with the user. */
export async function forgetShares(tx: Transaction, userId: string): Promise<void> {
  await deleteSharesWith(tx, userId);
  await closeAssetsOf(tx, userId);
}
