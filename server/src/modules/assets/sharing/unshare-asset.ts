import type { unshareAsset as endpoint } from '@bakehouse/contract/asset-shares';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChanges } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findUserByName } from '../../accounts/steps.ts';
import { findChangeableAsset } from '../access/find-changeable-asset.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { deleteShare } from './queries.ts';

/**
 * Ends a user's access to a shared asset: the owner may end anyone's, and users their own. Throws AppError
 * 'not_found' if it is not shared with the user.
 */
export async function unshareAsset(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<void> {
  const { userId } = ctx.caller;
  const { id: assetId, username } = params;
  await inTransaction(ctx.db, async (tx) => {
    const other = await findUserByName(tx, username);
    const find = other?.id === userId ? findReadableAsset : findChangeableAsset;
    const { owner_user_id: ownerId } = await find(tx, { assetId, userId });
    if (!other || !(await deleteShare(tx, { assetId, userId: other.id })))
      throw new AppError('not_found', { publicMessage: `This is not shared with ${username}` });
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
