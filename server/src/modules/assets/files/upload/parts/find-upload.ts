import type { Context } from '../../../../../platform/context.ts';
import { noUpload } from '../../../../../platform/storage/uploads/require-upload.ts';
import { findChangeableAsset } from '../../../access/find-changeable-asset.ts';
import type { AssetRow } from '../../../queries.ts';
import { type AssetUploadRow, selectAssetUpload } from './queries.ts';

export type UploadParams = { id: string; uploadId: string };

/** Returns an upload with its asset, for changes. Throws AppError 'not_found' and 'forbidden'. */
export async function findUpload(
  { db, caller }: Context,
  { id, uploadId }: UploadParams,
): Promise<{ asset: AssetRow; row: AssetUploadRow }> {
  const asset = await findChangeableAsset(db, { assetId: id, userId: caller.userId });
  const row = await selectAssetUpload(db, { assetId: id, uploadId });
  if (!row) throw noUpload();
  return { asset, row };
}
