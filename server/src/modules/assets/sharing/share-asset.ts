import { type shareAsset as endpoint, SHARES_MAX, type Shares } from '@bakehouse/contract/asset-shares';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { getMe } from '../../accounts/get-me.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findUserByName } from '../../accounts/steps.ts';
import { notifyOfShare } from '../../notifications/notify-of-share.ts';
import { lockChangeableAsset } from '../access/lock-changeable-asset.ts';
import { readShares } from './list-shares.ts';
import { insertShare } from './queries.ts';

/**
 * Shares an asset of the caller with a user, and notifies the user. Repeating it has no effect. Throws
 * AppError 'invalid_request' for an unknown name or the caller's own, and 'conflict' beyond the maximum
 * number of users, and for a restricted model.
 */
export async function shareAsset(ctx: Context, { params, body }: InputOf<typeof endpoint>): Promise<Shares> {
  const { userId } = ctx.caller;
  const { username: by } = await getMe(ctx);
  return inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId: params.id, userId });
    if (asset.is_restricted) {
      throw new AppError('conflict', {
        publicMessage: `${asset.title} is a restricted model: access to it is granted, not shared. Remove the restriction to share it`,
      });
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
    throw new AppError('conflict', {
      publicMessage: `This is shared with ${SHARES_MAX} users already. Stop sharing it with one of them, or publish it`,
    });
  });
}

async function findOther(
  tx: Transaction,
  { username, userId }: { username: string; userId: string },
): Promise<string> {
  const other = await findUserByName(tx, username);
  if (!other) {
    throw new AppError('invalid_request', {
      publicMessage: `Nobody has the username ${username}`,
      param: 'username',
    });
  }
  if (other.id !== userId) return other.id;
  throw new AppError('invalid_request', { publicMessage: 'This is yours already', param: 'username' });
}
