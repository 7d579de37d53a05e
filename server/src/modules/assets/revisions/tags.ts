import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/changeable.ts';
import { announceAssets } from '../assets.ts';
import { assertNewName } from './branches.ts';
import { deleteTag, insertTag, selectTags } from './commit-queries.ts';

/** Returns the tags of an asset with their commits. */
export async function listTags(db: Database, assetId: string): Promise<{ name: string; commitId: string }[]> {
  return selectTags(db, assetId);
}

/** Adds a tag to a revision. Throws AppError 'invalid_request', and 'conflict' for a taken name. */
export async function createTag(
  ctx: Context,
  tag: { assetId: string; name: string; revisionId: string; message: string },
): Promise<void> {
  const { userId } = ctx.caller;
  const { name } = tag;
  await inTransaction(ctx.db, async (tx) => {
    await lockChangeableAsset(tx, { assetId: tag.assetId, userId });
    await assertNewName(tx, { assetId: tag.assetId, name, kind: 'tag' });
    await insertTag(tx, tag);
    await recordAudit(tx, { userId, action: 'asset.tagged', detail: { asset_id: tag.assetId, tag: name } });
    await announceAssets(tx, [tag.assetId]);
  });
}

/** Returns true if a tag was removed. */
export async function removeTag(
  ctx: Context,
  { assetId, name }: { assetId: string; name: string },
): Promise<boolean> {
  const { userId } = ctx.caller;
  return inTransaction(ctx.db, async (tx) => {
    await lockChangeableAsset(tx, { assetId, userId });
    const isGone = await deleteTag(tx, assetId, name);
    if (isGone) {
      await recordAudit(tx, { userId, action: 'asset.untagged', detail: { asset_id: assetId, tag: name } });
      await announceAssets(tx, [assetId]);
    }
    return isGone;
  });
}
