import type { abandonUpload as endpoint } from '@bakehouse/contract/asset-uploads';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../../../platform/context.ts';
import { endUpload } from '../../../../../platform/storage/uploads/end-upload.ts';
import { findUpload } from './find-upload.ts';
import { deleteAssetUpload } from './queries.ts';

/** Aborts an upload of the caller and deletes its parts. A completed file stays. */
export async function abandonUpload(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<void> {
  const { row } = await findUpload(ctx, params);
  if (row.revision_id === null) await endUpload(ctx, { uploadId: row.id, userId: ctx.caller.userId });
  await deleteAssetUpload(ctx.db, row.id);
}
