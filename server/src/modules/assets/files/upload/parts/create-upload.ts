import type { createUpload as endpoint } from '@bakehouse/contract/asset-uploads';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../../platform/context.ts';
import { releaseUpload } from '../../../../../platform/storage/uploads/end-upload.ts';
import { openUpload } from '../../../../../platform/storage/uploads/open-upload.ts';
import { selectUpload } from '../../../../../platform/storage/uploads/queries.ts';
import type { Upload } from '../../../../../platform/storage/uploads/upload.ts';
import { findChangeableAsset } from '../../../access/find-changeable-asset.ts';
import { lockChangeableAsset } from '../../../access/lock-changeable-asset.ts';
import { takeRoomForUpload } from '../../storage-quota.ts';
import { cleanFilePath } from '../clean-file-path.ts';
import { refuseClash } from '../refuse-clash.ts';
import { refuseLarge } from './get-upload-limits.ts';
import { deleteAssetUpload, insertAssetUpload, selectUnfinished } from './queries.ts';
import { toWireUpload } from './to-wire.ts';

/**
 * Starts an upload in parts to an asset of the caller, or returns the unfinished upload with the same path,
 * size and hash. Ends an unfinished upload of another file with the same path. Throws AppError
 * 'payload_too_large' beyond the file limit or the user's quota, 'conflict' if the path is both a file and a
 * folder, and the errors of `openUpload`.
 */
export async function createUpload(
  ctx: Context,
  { params, body }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const who = { assetId: params.id, userId: ctx.caller.userId };
  await findChangeableAsset(ctx.db, who);
  const file = {
    path: cleanFilePath(body.path),
    sizeBytes: body.size_bytes,
    sha256: body.sha256 ?? null,
  };
  refuseLarge(ctx.config, { sizeBytes: file.sizeBytes, param: 'size_bytes' });
  const present = await findSame(ctx, { ...who, ...file });
  if (present) return toWireUpload(ctx.db, present, file.path);

  const upload = await openUpload(ctx, { userId: who.userId, ...file }, async (tx, open) => {
    await lockChangeableAsset(tx, who);
    await refuseClash(tx, { assetId: who.assetId, path: file.path, param: 'path' });
    const before = await selectUnfinished(tx, { assetId: who.assetId, path: file.path });
    if (before) {
      await releaseUpload(tx, { uploadId: before.id, userId: who.userId });
      await deleteAssetUpload(tx, before.id);
    }
    const opened = await open();
    await takeRoomForUpload(tx, ctx.config, { upload: opened, param: 'size_bytes' });
    await insertAssetUpload(tx, { id: opened.id, assetId: who.assetId, path: file.path });
    return opened;
  });
  return toWireUpload(ctx.db, upload, file.path);
}

type File = { assetId: string; userId: string; path: string; sizeBytes: number; sha256: string | null };

async function findSame(
  { db }: Context,
  { userId, sizeBytes, sha256, ...file }: File,
): Promise<Upload | null> {
  const row = await selectUnfinished(db, file);
  const upload = row ? await selectUpload(db, { uploadId: row.id, userId }) : null;
  return upload?.sizeBytes === sizeBytes && upload.announcedSha256 === sha256 ? upload : null;
}
