import type { Database, Transaction } from '../../../platform/db/database.ts';

type Share = { assetId: string; userId: string };

/** Returns the users with whom an asset is shared, by name. */
export async function selectShares(
  db: Database | Transaction,
  assetId: string,
): Promise<{ username: string; created_at: Date }[]> {
  return db
    .selectFrom('asset_shares as share')
    .innerJoin('users', 'users.id', 'share.user_id')
    .select(['users.username', 'share.created_at'])
    .where('share.asset_id', '=', assetId)
    .where('users.deleted_at', 'is', null)
    .orderBy('users.username')
    .execute();
}

/** Returns true if the share is new. */
export async function insertShare(tx: Transaction, { assetId, userId }: Share): Promise<boolean> {
  const made = await tx
    .insertInto('asset_shares')
    .values({ asset_id: assetId, user_id: userId })
    .onConflict((conflict) => conflict.doNothing())
    .returning('asset_id')
    .executeTakeFirst();
  return made !== undefined;
}

/** Returns true if a share was deleted. */
export async function deleteShare(tx: Transaction, { assetId, userId }: Share): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('asset_shares')
    .where('asset_id', '=', assetId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Returns the assets shared with a user and their owners, oldest share first. */
export async function selectSharedWith(db: Database, userId: string) {
  return db
    .selectFrom('asset_shares as share')
    .innerJoin('assets', 'assets.id', 'share.asset_id')
    .innerJoin('users', 'users.id', 'assets.owner_user_id')
    .select(['share.asset_id as dataset_id', 'assets.title', 'users.username as owner_username'])
    .select('share.created_at as shared_at')
    .where('share.user_id', '=', userId)
    .where('assets.deleted_at', 'is', null)
    .orderBy('share.created_at')
    .execute();
}

/** Deletes all shares with a user. */
export async function deleteSharesWith(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('asset_shares').where('user_id', '=', userId).execute();
}

/** Makes all assets of a user private, and deletes their shares. */
export async function closeAssetsOf(tx: Transaction, userId: string): Promise<void> {
  await tx
    .deleteFrom('asset_shares')
    .using('assets')
    .whereRef('assets.id', '=', 'asset_shares.asset_id')
    .where('assets.owner_user_id', '=', userId)
    .execute();
  await tx
    .updateTable('assets')
    .set({ is_published: false })
    .where('owner_user_id', '=', userId)
    .where('is_published', '=', true)
    .execute();
}
