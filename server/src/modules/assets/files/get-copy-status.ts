import type { filesCopyStatus as endpoint } from '@bakehouse/contract/asset-files';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { listFilesPage } from './list-files-page.ts';

/** Lists the files of the newest revision, which are all copied. */
export async function getCopyStatus(
  ctx: Context,
  { params, query }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: params.id, userId: ctx.caller.userId });
  const { files, nextCursor } = await listFilesPage(ctx.db, { ...query, assetId: asset.id, path: '' });
  return {
    status: 'COMPLETED',
    progress: 100,
    files_copy_status: files.map(({ path, size_bytes }) => ({
      file_path: path,
      size_bytes,
      status: 'COMPLETED',
    })),
    next_cursor: nextCursor,
  };
}
