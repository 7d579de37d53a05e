import type { assetInfo as endpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { countFilesBelow } from './folder-queries.ts';
import { listFilesPage } from './list-files-page.ts';

/** Returns one file, or a page of the files below a folder. An empty path means the whole asset. */
export async function getInfo(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  const path = input.path.replace(/^\/+|\/+$/g, '');
  const { cursor, totals } = path === '' ? { cursor: input.cursor } : withoutTotals(input.cursor);
  const { count, bytes } =
    path === ''
      ? { count: asset.file_count, bytes: Number(asset.size_bytes) }
      : (totals ?? (await countFilesBelow(ctx.db, asset.id, path)));
  if (count === 0 && path !== '') {
    throw new AppError('not_found', { publicMessage: `There is no file or folder ${path}`, param: 'path' });
  }
  const { files, nextCursor } = await listFilesPage(ctx.db, { ...input, cursor, assetId: asset.id, path });
  const isCounted = path !== '' && nextCursor !== null;
  return {
    path,
    files,
    file_count: count,
    size_bytes: bytes,
    next_cursor: isCounted ? `${count}.${bytes}.${nextCursor}` : nextCursor,
  };
}

type Totals = { count: number; bytes: number };

/** Splits the totals from a cursor, which passes them on because counting reads all files of a folder. */
function withoutTotals(cursor: string | undefined): { cursor: string | undefined; totals?: Totals } {
  const [, count, bytes, place] = /^(\d{1,15})\.(\d{1,15})\.(.+)$/.exec(cursor ?? '') ?? [];
  return place === undefined
    ? { cursor }
    : { cursor: place, totals: { count: Number(count), bytes: Number(bytes) } };
}
