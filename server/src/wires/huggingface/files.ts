import { createHash } from 'node:crypto';
import type { InputOf } from '@bakehouse/contract/endpoint';
import type {
  describePaths as describePathsEndpoint,
  listRepositoryFiles as listRepositoryFilesEndpoint,
  resolveModelFile as resolveModelFileEndpoint,
} from '@bakehouse/contract/hub/files';
import type { RepositoryTypes, TreeEntry } from '@bakehouse/contract/hub/shared';
import { countDownload } from '../../modules/assets/downloads/count-download.ts';
import { contentDisposition, contentTypeOf } from '../../modules/assets/files/content-type.ts';
import { formatCursor, parseCursor } from '../../modules/assets/files/files.ts';
import { type Commit, findLastCommits } from '../../modules/assets/revisions/commits.ts';
import {
  type FileRow,
  findFilesOf,
  findFolderSpelling,
  hasFolder,
  listFilesOf,
  listFolderOf,
  type OfRevision,
  spellingsOf,
} from '../../modules/assets/revisions/read-tree.ts';
import type { Context } from '../../platform/context.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { answerBlob, type FileRequest } from '../../platform/storage/answer-blob.ts';
import { HubError } from './hub-error.ts';
import { type Addressed, answerPage } from './next-page.ts';
import { openRevision } from './repositories/open-repository.ts';

/** Returns those of these paths that are files or folders of a revision. Throws HubError. */
export async function describePaths(
  ctx: Context,
  { params, body }: InputOf<typeof describePathsEndpoint>,
): Promise<TreeEntry[]> {
  const { asset, commit } = await openRevision(ctx, params);
  const paths = [...new Set(body.paths.map((path) => path.replace(/^\/+|\/+$/g, '')))].filter(Boolean);
  const of = { assetId: asset.id, number: commit.number, paths: paths.flatMap(spellingsOf) };
  const files = new Map((await findFilesOf(ctx.db, of)).map((file) => [file.path, file]));
  const lastCommits = body.expand ? await findLastCommits(ctx.db, of) : null;
  const entries: TreeEntry[] = [];
  for (const path of paths) {
    const [file] = spellingsOf(path).flatMap((spelling) => files.get(spelling) ?? []);
    if (file) {
      entries.push(toFileEntry(file, lastCommits?.get(file.path)));
      continue;
    }
    const folder = await findFolderSpelling(ctx.db, { ...of, path });
    if (await hasFolder(ctx.db, { ...of, path: folder }))
      entries.push(toFolderEntry(folder, commit.commitId));
  }
  return entries;
}

type Page = { entries: (FileRow | string)[]; next: string | null };

type Wanted = OfRevision & { folder: string; cursor: string | null; limit: number };

/**
 * Returns the files and folders of a revision or of a folder in it; `recursive` includes subfolders. Throws
 * HubError.
 */
export async function listEntries(
  ctx: Context,
  {
    params,
    query,
  }: Pick<InputOf<typeof listRepositoryFilesEndpoint>, 'params' | 'query'> & { params: { '*'?: string } },
  request: Addressed,
): Promise<Answer<TreeEntry[]>> {
  const { asset, commit } = await openRevision(ctx, params);
  const of = { assetId: asset.id, number: commit.number };
  const path = (params['*'] ?? '').replace(/^\/+|\/+$/g, '');
  const folder = await findFolderSpelling(ctx.db, { ...of, path });
  const wanted = {
    ...of,
    folder,
    cursor: query.cursor ? parseCursor(query.cursor) : null,
    limit: query.limit,
  };
  const { entries, next } = await (query.recursive ? readAll(ctx, wanted) : readFolder(ctx, wanted));
  if (entries.length === 0 && folder !== '' && !query.cursor) {
    const message = `There is no folder ${folder} in ${params.revision}`;
    throw new HubError('not_found', 'EntryNotFound', message, { commitId: commit.commitId });
  }
  const paths = query.expand ? entries.flatMap((one) => (typeof one === 'string' ? [] : [one.path])) : [];
  const lastCommits = await findLastCommits(ctx.db, { ...wanted, paths });
  const shown = entries.map((one) =>
    typeof one === 'string'
      ? toFolderEntry(one, commit.commitId)
      : toFileEntry(one, lastCommits.get(one.path)),
  );
  return answerPage(request, shown, { field: 'cursor', value: next && formatCursor(next) });
}

/** Returns a page of all files below a folder. The cursor is the last path of the previous page. */
async function readAll({ db }: Context, { cursor, limit, ...of }: Wanted): Promise<Page> {
  const found = await listFilesOf(db, { ...of, after: cursor ?? firstAfter(of.folder), limit: limit + 1 });
  const files = found.slice(0, limit);
  const entries = files.flatMap((file, index) => [
    ...foldersBefore(file.path, files[index - 1]?.path ?? cursor, of.folder),
    file,
  ]);
  return { entries, next: found.length > limit ? (files.at(-1)?.path ?? null) : null };
}

/** Returns the path after which the first page starts. That excludes a file with the folder's own name. */
function firstAfter(folder: string): string | null {
  return folder === '' ? null : folder;
}

/** Returns a page of the direct contents of a folder. The cursor is the first path of the page. */
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
 * Returns the folders that first appear before this path in a sorted list: its parent folders, except those
 * that also contain `previous`, the path before it. Excludes the listed folder `below` and its parents.
 */
function foldersBefore(path: string, previous: string | null, below: string): string[] {
  const parts = path.split('/');
  const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
  return folders.filter(
    (folder) =>
      !(previous ?? '').startsWith(`${folder}/`) && folder !== below && !below.startsWith(`${folder}/`),
  );
}

/** Returns a file of a revision, or a range of it. Headers identify commit and bytes. Throws HubError. */
export async function resolveFile(
  ctx: Context,
  { type, params }: { type: RepositoryTypes; params: InputOf<typeof resolveModelFileEndpoint>['params'] },
  request: FileRequest,
): Promise<Answer> {
  const { '*': path, revision } = params;
  const { asset, commit } = await openRevision(ctx, { type, ...params });
  const [file] = await findFilesOf(ctx.db, {
    assetId: asset.id,
    number: commit.number,
    paths: spellingsOf(path),
  });
  const { commitId } = commit;
  if (!file)
    throw new HubError('not_found', 'EntryNotFound', `There is no file ${path} in ${revision}`, { commitId });
  const { sha256 } = file;
  const sizeBytes = Number(file.size_bytes);
  if (request.method === 'GET') countDownload(ctx, asset.id);
  return answerBlob(ctx, request, {
    sha256,
    path,
    sizeBytes,
    headers: {
      'x-repo-commit': commitId,
      'x-linked-size': String(sizeBytes),
      'x-linked-etag': `"${sha256}"`,
      'cache-control': 'private, no-cache',
      'content-type': contentTypeOf(path).contentType,
      'content-disposition': contentDisposition('attachment', path),
    },
  });
}

type Bytes = Pick<FileRow, 'sha256' | 'size_bytes'>;

/**
 * Returns a file's Git LFS fields. LFS identifies bytes by their SHA-256, as this server does. In Git, the
 * blob is the small pointer file, so its id is computed from that file.
 */
export function toLfs({ sha256, size_bytes }: Bytes): { blobId: string; size: number; pointerSize: number } {
  const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256}\nsize ${size_bytes}\n`;
  const blobId = createHash('sha1').update(`blob ${pointer.length}\0${pointer}`).digest('hex');
  return { blobId, size: Number(size_bytes), pointerSize: pointer.length };
}

function toFileEntry(file: FileRow, lastCommit?: Commit): TreeEntry {
  const { blobId, size, pointerSize } = toLfs(file);
  return {
    type: 'file',
    oid: blobId,
    size,
    path: file.path,
    lfs: { oid: file.sha256, size, pointerSize },
    ...(lastCommit && {
      lastCommit: {
        id: lastCommit.commitId,
        title: titleOf(lastCommit),
        date: lastCommit.createdAt.toISOString(),
      },
    }),
  };
}

/** Git would compute a folder's id from its content; this id is computed from the commit and the path. */
function toFolderEntry(path: string, commitId: string): TreeEntry {
  const oid = createHash('sha1').update(`tree ${commitId} ${path}`).digest('hex');
  return { type: 'directory', oid, size: 0, path };
}

/** Returns the first line of a commit message. */
export function titleOf({ message }: Pick<Commit, 'message'>): string {
  return message.split('\n')[0] || 'Change files';
}
