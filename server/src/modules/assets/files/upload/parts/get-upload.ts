import type {
  getUpload as getEndpoint,
  listUploads as listEndpoint,
} from '@bakehouse/contract/asset-uploads';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../../platform/context.ts';
import { requireUpload } from '../../../../../platform/storage/uploads/require-upload.ts';
import { countParts } from '../../../../../platform/storage/uploads/upload.ts';
import { findChangeableAsset } from '../../../access/find-changeable-asset.ts';
import { findUpload } from './find-upload.ts';
import { selectUnfinishedOf } from './queries.ts';
import { toWireUpload } from './to-wire.ts';

export async function getUpload(
  ctx: Context,
  { params }: InputOf<typeof getEndpoint>,
): Promise<ResponseOf<typeof getEndpoint>> {
  const { row } = await findUpload(ctx, params);
  const upload = await requireUpload(ctx.db, { uploadId: row.id, userId: ctx.caller.userId });
  return toWireUpload(ctx.db, upload, row.path);
}

/** Lists the unfinished uploads to an asset of the caller, oldest first. */
export async function listUploads(
  ctx: Context,
  { params }: InputOf<typeof listEndpoint>,
): Promise<ResponseOf<typeof listEndpoint>> {
  await findChangeableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const rows = await selectUnfinishedOf(ctx.db, params.id);
  return {
    uploads: rows.map(({ id, created_at, ...row }) => ({
      ...row,
      upload_id: id,
      part_count: countParts({ sizeBytes: row.size_bytes, partBytes: row.part_bytes }),
      created_at: created_at.toISOString(),
    })),
  };
}
