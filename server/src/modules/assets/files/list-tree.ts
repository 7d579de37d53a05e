import type { assetTree as endpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { toWireFile } from '../to-wire.ts';
import { listTree as listEntries, type TreeRow } from './folder-queries.ts';
import { formatCursor, parseCursor } from './list-files-page.ts';
import { requireRevisionNumber } from './require-revision-number.ts';

/** Lists the direct children of a folder, by default in the newest revision. Throws AppError 'not_found'. */
export async function listTree(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  const revisionId = input.revision_id;
  const number =
    revisionId === undefined
      ? undefined
      : await requireRevisionNumber(ctx.db, { assetId: asset.id, revisionId });
  const folder = input.path.replace(/^\/+|\/+$/g, '');
  const isBeginning = !input.cursor;
  const start = input.cursor ? parseCursor(input.cursor) : folder === '' ? '' : `${folder}/`;
  const rows = await listEntries(ctx.db, asset.id, { folder, start, number, limit: input.limit + 1 });
  if (rows.length === 0 && isBeginning && folder !== '')
    throw new AppError('not_found', { publicMessage: `There is no folder ${folder}`, param: 'path' });
  const next = rows[input.limit];
  return {
    path: folder,
    entries: rows.slice(0, input.limit).map(toEntry),
    next_cursor: next ? formatCursor(next.file ? next.path : `${next.path}/`) : null,
  };
}

function toEntry({ path, file }: TreeRow): ResponseOf<typeof endpoint>['entries'][number] {
  return file ? { type: 'file', ...toWireFile(file) } : { type: 'folder', path };
}
