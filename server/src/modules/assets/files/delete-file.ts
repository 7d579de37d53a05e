import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/lock-changeable-asset.ts';
import { addRevision } from '../add-revision.ts';
import { findNewestFile } from '../queries.ts';

/** Removes one file in a new revision; earlier revisions, and what used them, keep it. */
export async function deleteFile(
  ctx: Context,
  input: { assetId: string; path: string },
): Promise<{ revision_id: string }> {
  return inTransaction(ctx.db, async (tx) => {
    const asset = await lockChangeableAsset(tx, { assetId: input.assetId, userId: ctx.caller.userId });
    const file = await findNewestFile(tx, asset.id, input.path);
    if (!file)
      throw new AppError('not_found', {
        publicMessage: `There is no file ${input.path}`,
        param: 'file_path',
      });
    await recordAudit(tx, {
      userId: ctx.caller.userId,
      action: 'asset.file_deleted',
      detail: { asset_id: asset.id, path: file.path },
    });
    return { revision_id: await addRevision(tx, asset, { put: [], remove: [file.path] }) };
  });
}
