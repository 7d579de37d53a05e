import type { InputOf } from '@bakehouse/contract/endpoint';
import type { listRepositoryFiles as endpoint } from '@bakehouse/contract/hub/files';
import type { TreeEntry } from '@bakehouse/contract/hub/shared';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { formatCursor, parseCursor } from '../../assets/files/list-files-page.ts';
import { findLastCommits } from '../../assets/revisions/list-commits.ts';
import {
  type FileRow,
  listFilesOf,
  listFolderOf,
  type OfRevision,
  spellFolder,
} from '../../assets/revisions/read-tree.ts';
import { HubError } from '../hub-error.ts';
import { linkNextPage } from '../next-page.ts';
import { openRevision } from '../repositories/open-repository.ts';
import { toFileEntry, toFolderEntry } from './to-entry.ts';

type Page = { entries: (FileRow | string)[]; next: string | null };
type Wanted = OfRevision & { folder: string; cursor: string | null; limit: number };

/**
 * Returns the files and folders of a revision or of a folder in it; `recursive` includes subfolders. Throws
 * HubError.
 */
export async function listEntries(
  ctx: Context,
  { params, query }: Pick<InputOf<typeof endpoint>, 'params' | 'query'> & { params: { '*'?: string } },
  http: Http,
): Promise<TreeEntry[]> {
  const { asset, commit } = await openRevision(ctx, params);
  const of = { assetId: asset.id, number: commit.number };
  const path = (params['*'] ?? '').replace(/^\/+|\/+$/g, '');
  const folder = await spellFolder(ctx.db, { ...of, path });
  const wanted = {
    ...of,
    folder,
    cursor: query.cursor ? parseCursor(query.cursor) : null,
    limit: query.limit,
  };
  const { entries, next } = await (query.recursive ? readAll(ctx, wanted) : readFolder(ctx, wanted));
  if (entries.length === 0 && folder !== '' && !query.cursor) {
    http.reply.header('x-repo-commit', commit.commitId);
    throw new HubError('not_found', 'EntryNotFound', `There is no folder ${folder} in ${params.revision}`);
  }
  if (next !== null) linkNextPage(http, 'cursor', formatCursor(next));
  const paths = query.expand ? entries.flatMap((one) => (typeof one === 'string' ? [] : [one.path])) : [];
  const lastCommits = await findLastCommits(ctx.db, { ...wanted, paths });
  return entries.map((one) =>
    typeof one === 'string'
      ? toFolderEntry(one, commit.commitId)
      : toFileEntry(one, lastCommits.get(one.path)),
  );
}

/** The cursor is the last path of the previous page. */
async function readAll({ db }: Context, { cursor, limit, ...of }: Wanted): Promise<Page> {
  const found = await listFilesOf(db, { ...of, after: cursor ?? firstAfter(of.folder), limit: limit + 1 });
  const files = found.slice(0, limit);
  const entries = files.flatMap((file, index) => [
    ...foldersBefore(file.path, files[index - 1]?.path ?? cursor, of.folder),
    file,
  ]);
  return { entries, next: found.length > limit ? (files.at(-1)?.path ?? null) : null };
}

/** Excludes a file with the folder's own name. */
function firstAfter(folder: string): string | null {
  return folder === '' ? null : folder;
}

/** The cursor is the first path of the page. */
async function readFolder({ db }: Context, { cursor, limit, ...of }: Wanted): Promise<Page> {
  const start = cursor ?? (of.folder === '' ? '' : `${of.folder}/`);
  const rows = await listFolderOf(db, { ...of, start, limit: limit + 1 });
  const next = rows[limit];
  return {
    entries: rows.slice(0, limit).map(({ path, file }) => file ?? path),
    next: next ? (next.file ? next.path : `${next.path}/`) : null,
  };
}

/**
 * Returns the folders that first appear with this path in sorted order: its parents that are not parents of
 * the previous path. Excludes `below`, the listed folder; `previous` is the last path of the previous page.
 */
function foldersBefore(path: string, previous: string | null, below: string): string[] {
  const parts = path.split('/');
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
  return folders.filter(
    (folder) =>
      !(previous ?? '').startsWith(`${folder}/`) && folder !== below && !below.startsWith(`${folder}/`),
  );
}
