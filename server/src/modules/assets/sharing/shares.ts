import {
  type listShares as listSharesEndpoint,
  SHARES_MAX,
  type Shares,
  type shareAsset as shareAssetEndpoint,
  type unshareAsset as unshareAssetEndpoint,
} from '@bakehouse/contract/asset-shares';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { conflict, invalidParam, notFoundError } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findUserByName } from '../../accounts/steps.ts';
import { getMe } from '../../accounts/users.ts';
import { notifyOfShare } from '../../notifications/notify-of-events.ts';
import { findChangeableAsset, lockChangeableAsset } from '../access/changeable.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';

/** Lists the users with whom the caller shares an asset. */
export async function listShares(
  ctx: Context,
  { params }: InputOf<typeof listSharesEndpoint>,
): Promise<Shares> {
  const asset = await findChangeableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  return readShares(ctx.db, asset.id);
}

/** Returns the shares of an asset that was just changed. */
async function readShares(db: Database | Transaction, assetId: string): Promise<Shares> {
  const rows = await selectShares(db, assetId);
  return {
    shares: rows.map(({ username, created_at }) => ({ username, shared_at: created_at.toISOString() })),
  };
}

/**
 * Shares an asset of the caller with a user, and notifies the user. Repeating it has no effect. Throws
 * AppError 'invalid_request' for an unknown name or the caller's own, and 'conflict' beyond the maximum
 * number of users, and for a restricted model.
 */
export async function shareAsset(
  ctx: Context,
  { params, body }: InputOf<typeof shareAssetEndpoint>,
): Promise<Shares> {
  const { userId } = ctx.caller;
  const { username: by } = await getMe(ctx);
  return inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId: params.id, userId });
    if (asset.is_restricted) {
      throw conflict(
        `${asset.title} is a restricted model: access to it is granted, not shared. Remove the restriction to share it`,
      );
    }
    const other = await findOther(tx, { username: body.username, userId });
    if (await insertShare(tx, { assetId: asset.id, userId: other })) {
      const detail = { asset_id: asset.id, to_user_id: other };
      await recordAudit(tx, { userId, action: 'asset.shared', detail });
      const { id: asset_id, dataset_type, title } = asset;
      await notifyOfShare(tx, { userId: other, asset_id, dataset_type, title, by });
      const event = { topic: 'asset', id: asset.id } as const;
      await publishChanges(
        tx,
        [userId, other].map((id) => ({ userId: id, event })),
      );
    }
    const shared = await readShares(tx, asset.id);
    if (shared.shares.length <= SHARES_MAX) return shared;
    throw conflict(
      `This is shared with ${SHARES_MAX} users already. Stop sharing it with one of them, or publish it`,
    );
  });
}

async function findOther(
  tx: Transaction,
  { username, userId }: { username: string; userId: string },
): Promise<string> {
  const other = await findUserByName(tx, username);
  if (!other) {
    throw invalidParam('username', `No user has the username ${username}`);
  }
  if (other.id !== userId) return other.id;
  throw invalidParam('username', 'You already own this');
}

/**
 * Ends a user's access to a shared asset. The owner may end any user's access; other users only their own.
 * Throws AppError 'not_found' if the asset is not shared with the user.
 */
export async function unshareAsset(
  ctx: Context,
  { params }: InputOf<typeof unshareAssetEndpoint>,
): Promise<void> {
  const { userId } = ctx.caller;
  const { id: assetId, username } = params;
  await inTransaction(ctx.db, async (tx) => {
    const other = await findUserByName(tx, username);
    const find = other?.id === userId ? findReadableAsset : findChangeableAsset;
    const { owner_user_id: ownerId } = await find(tx, { assetId, userId });
    if (!other || !(await deleteShare(tx, { assetId, userId: other.id })))
      throw notFoundError(`This is not shared with ${username}`);
    const detail = { asset_id: assetId, to_user_id: other.id };
    await recordAudit(tx, { userId, action: 'asset.unshared', detail });
    const event = { topic: 'asset', id: assetId } as const;
    const concerned = [other.id, ...(ownerId === null ? [] : [ownerId])];
    await publishChanges(
      tx,
      concerned.map((id) => ({ userId: id, event })),
    );
  });
}

/** Returns the assets that others share with the caller, oldest share first. */
export async function listSharedWithCaller({ db, caller }: Context) {
  return selectSharedWith(db, caller.userId);
}

/** Step: ends all sharing and publishing by a deleted user, and all shares with the user. */
export async function deleteUserShares(tx: Transaction, userId: string): Promise<void> {
  await deleteSharesWith(tx, userId);
  await closeAssetsOf(tx, userId);
}

type Share = { assetId: string; userId: string };

/** Returns the users with whom an asset is shared, by name. */
async function selectShares(
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
async function insertShare(tx: Transaction, { assetId, userId }: Share): Promise<boolean> {
  const made = await tx
    .insertInto('asset_shares')
    .values({ asset_id: assetId, user_id: userId })
    .onConflict((oc) => oc.doNothing())
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
async function selectSharedWith(db: Database, userId: string) {
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
async function deleteSharesWith(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('asset_shares').where('user_id', '=', userId).execute();
}

/** Makes all assets of a user private, and deletes their shares. */
async function closeAssetsOf(tx: Transaction, userId: string): Promise<void> {
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
