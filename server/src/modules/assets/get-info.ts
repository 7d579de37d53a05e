import type { assetInfo as endpoint } from '@bakehouse/contract/assets';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findReadableAsset } from './find-asset.ts';
import { listNewestFiles } from './queries.ts';
import { toWireFile } from './to-wire.ts';

/** One file, or all files below a folder, of the newest revision; an empty path is the whole asset. */
export async function getInfo(
  ctx: Context,
  input: { assetId: string; path: string },
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  const path = input.path.replace(/^\/+|\/+$/g, '');
  const all = await listNewestFiles(ctx.db, asset.id);
  const files = all.filter((file) => path === '' || file.path === path || file.path.startsWith(`${path}/`));
  if (files.length === 0 && path !== '') {
    throw new AppError('not_found', { publicMessage: `There is no file or folder ${path}`, param: 'path' });
  }
  return {
    path,
    files: files.map(toWireFile),
    size_bytes: Number(files.reduce((sum, file) => sum + file.size_bytes, 0n)),
  };
}
