import type { filesCopyStatus as filesCopyStatusEndpoint } from '@bakehouse/contract/asset-files';
import type {
  AssetFile,
  assetInfo as assetInfoEndpoint,
  assetTree as assetTreeEndpoint,
} from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../../platform/context.ts';
import type { Database } from '../../../platform/db/database.ts';
import { notFoundError, unknownCursor } from '../../../platform/errors.ts';
import { findReadableAsset } from '../access/find-readable-asset.ts';
import { type FileRow, findNewestFile, findRevision, listFiles } from '../queries.ts';
import { spellingsOf } from '../revisions/read-tree.ts';
import { toWireFile } from '../to-wire.ts';
import { countFilesBelow, listTree as listEntries, listFilesBelow, type TreeRow } from './folder-queries.ts';

/** Returns a file of the newest or the given revision. Throws AppError 'not_found'. */
export async function findFile(
  ctx: Context,
  { assetId, revisionId, path }: { assetId: string; revisionId: string | undefined; path: string },
): Promise<FileRow> {
  const asset = await findReadableAsset(ctx.db, { assetId, userId: ctx.caller.userId });
  const file = revisionId
    ? await findFileOfRevision(ctx, { assetId: asset.id, revisionId, path })
    : await findFileOfNewest(ctx, asset.id, path);
  if (!file) throw notFoundError(`There is no file ${path}`, { param: 'path' });
  return file;
}

async function findFileOfNewest(
  { db }: Context,
  assetId: string,
  path: string,
): Promise<FileRow | undefined> {
  for (const spelling of spellingsOf(path)) {
    const file = await findNewestFile(db, assetId, spelling);
    if (file) return file;
  }
  return undefined;
}

async function findFileOfRevision(
  ctx: Context,
  input: { assetId: string; revisionId: string; path: string },
): Promise<FileRow | undefined> {
  const number = await requireRevisionNumber(ctx.db, input);
  const [file] = await listFiles(ctx.db, { assetId: input.assetId, number, paths: spellingsOf(input.path) });
  return file;
}

/** Returns one file, or a page of the files below a folder. An empty path means the whole asset. */
export async function getInfo(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof assetInfoEndpoint>['query'],
): Promise<ResponseOf<typeof assetInfoEndpoint>> {
  const asset = await findReadableAsset(ctx.db, { assetId: input.assetId, userId: ctx.caller.userId });
  const path = input.path.replace(/^\/+|\/+$/g, '');
  const { cursor, totals } = path === '' ? { cursor: input.cursor } : withoutTotals(input.cursor);
  const { count, bytes } =
    path === ''
      ? { count: asset.file_count, bytes: Number(asset.size_bytes) }
      : (totals ?? (await countFilesBelow(ctx.db, asset.id, path)));
  if (count === 0 && path !== '') {
    throw notFoundError(`There is no file or folder ${path}`, { param: 'path' });
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

/**
 * Returns the cursor without the totals that it carries. The totals travel in the cursor because counting
 * them reads every file of a folder.
 */
function withoutTotals(cursor: string | undefined): { cursor: string | undefined; totals?: Totals } {
  const [, count, bytes, place] = /^(\d{1,15})\.(\d{1,15})\.(.+)$/.exec(cursor ?? '') ?? [];
  return place === undefined
    ? { cursor }
    : { cursor: place, totals: { count: Number(count), bytes: Number(bytes) } };
}

/**
 * Lists the files of the newest revision. All report as copied, because this server does not copy in the
 * background.
 */
export async function getCopyStatus(
  ctx: Context,
  { params, query }: InputOf<typeof filesCopyStatusEndpoint>,
): Promise<ResponseOf<typeof filesCopyStatusEndpoint>> {
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

/** Returns files of the newest revision from the cursor, in path order, with the next cursor. */
export async function listFilesPage(
  db: Database,
  input: {
    assetId: string;
    path: string;
    prefix?: string | undefined;
    cursor?: string | undefined;
    limit: number;
  },
): Promise<{ files: AssetFile[]; nextCursor: string | null }> {
  const { assetId, path, prefix = '', cursor, limit } = input;
  const after = cursor ? parseCursor(cursor) : null;
  const rows = await listFilesBelow(db, assetId, { path, prefix, after, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    files: page.map(toWireFile),
    nextCursor: rows.length > page.length && last ? formatCursor(last.path) : null,
  };
}

/** Encodes a position in a list of paths for clients. */
export function formatCursor(path: string): string {
  return Buffer.from(JSON.stringify(path)).toString('base64url');
}

/** Decodes a position. Throws AppError 'invalid_request' if it is invalid. */
export function parseCursor(cursor: string): string {
  try {
    const path: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof path === 'string' && !path.includes('\0')) return path;
  } catch {
    // Rejected below.
  }
  throw unknownCursor();
}

/** Lists the direct children of a folder, by default in the newest revision. Throws AppError 'not_found'. */
export async function listTree(
  ctx: Context,
  input: { assetId: string } & InputOf<typeof assetTreeEndpoint>['query'],
): Promise<ResponseOf<typeof assetTreeEndpoint>> {
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
    throw notFoundError(`There is no folder ${folder}`, { param: 'path' });
  const next = rows[input.limit];
  return {
    path: folder,
    entries: rows.slice(0, input.limit).map(toEntry),
    next_cursor: next ? formatCursor(next.file ? next.path : `${next.path}/`) : null,
  };
}

function toEntry({ path, file }: TreeRow): ResponseOf<typeof assetTreeEndpoint>['entries'][number] {
  return file ? { type: 'file', ...toWireFile(file) } : { type: 'folder', path };
}

/** Returns the number of a revision by its id. Throws AppError 'not_found' if it does not exist. */
async function requireRevisionNumber(
  db: Database,
  { assetId, revisionId }: { assetId: string; revisionId: string },
): Promise<number> {
  const revision = await findRevision(db, assetId, revisionId);
  if (revision) return revision.number;
  throw notFoundError('There is no such version', { param: 'revision_id' });
}
