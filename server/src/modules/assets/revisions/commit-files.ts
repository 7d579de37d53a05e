import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { type AppError, conflict, notFoundError, preconditionFailed } from '../../../platform/errors.ts';
import { lockBlobRows } from '../../../platform/storage/queries.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/changeable.ts';
import { findPathConflict, listFilesInFolders } from '../files/folder-queries.ts';
import { assertBlobsFitQuota, readQuota } from '../files/storage-quota.ts';
import { type AssetRow, findAsset, newestFiles } from '../queries.ts';
import { saveFamily } from '../recognise/family.ts';
import { addRevision, type NewFile } from './add-revision.ts';
import { addBranchRevision, type Branch, copyForkedFiles, endOf, findBranch } from './branches.ts';
import { type Commit, findBranchHead, findHead } from './commits.ts';

export type FileChanges = {
  put: NewFile[];
  /** Paths of files, which must exist. */
  removeFiles: string[];
  /** Paths of folders, which must contain files. */
  removeFolders: string[];
};

type Input = FileChanges & {
  assetId: string;
  /** Null: main. */
  branch?: string | null;
  userId: string;
  message: string;
  /** The model families in the files, by their paths. */
  families?: ReadonlyMap<string, string>;
  /** The id of the newest commit or a prefix of it; null to skip the check. */
  parentCommit: string | null;
};

/**
 * Step: commits changes to an asset of the user and returns the newest commit. The store must contain the
 * bytes. A path that is both removed and put is replaced. If nothing changes, adds no commit. Throws AppError
 * 'precondition_failed' if `parentCommit` is not the newest commit, 'not_found' with param `path` for a
 * missing file to remove, 'conflict' for a path that would be both a file and a folder, and
 * 'payload_too_large' above the user's quota.
 */
export async function commitFiles(
  tx: Transaction,
  config: Services['config'],
  input: Input,
): Promise<Commit> {
  const { assetId, userId, message } = input;
  const asset = await lockChangeableAsset(tx, { assetId, userId });
  const branch = input.branch ? await openBranch(tx, assetId, input.branch) : null;
  const end = branch && endOf(branch);
  const head = branch ? await findBranchHead(tx, asset, branch) : await findHead(tx, asset);
  const remove = await listRemoved(tx, asset, { ...input, end });
  const put = await listChanged(tx, asset, { put: input.put, removed: remove, end });
  // Accept this even with an outdated parent: a client may repeat a commit whose response it has missed.
  if (put.length === 0 && remove.size === 0) return head;
  if (input.parentCommit !== null && !head.commitId.startsWith(input.parentCommit.toLowerCase())) {
    throw preconditionFailed('A commit has happened since. Please refresh and try again.', {
      param: 'parentCommit',
      shouldRetry: false,
    });
  }
  await assertNoPathConflicts(tx, assetId, { put, removed: remove, param: 'path', end });
  await lockBlobRows(
    tx,
    put.map(({ sha256 }) => sha256),
  );
  const quota = await readQuota({ config, db: tx }, userId);
  await assertBlobsFitQuota(tx, { userId, quota, blobs: put, param: 'files' });
  const puts = new Set(put.map(({ path }) => path));
  const gone = [...remove].filter((path) => !puts.has(path));
  const change = { put, remove: gone, message, authorUserId: userId };
  const detail = { asset_id: assetId, put: String(put.length), removed: String(gone.length) };
  await recordAudit(tx, { userId, action: 'asset.committed', detail });
  if (branch) {
    const number = await addBranchRevision(tx, { assetId, branch, change });
    return findBranchHead(tx, asset, { head_number: number });
  }
  await addRevision(tx, asset, change);
  for (const { path } of put) {
    const family = input.families?.get(path);
    if (family !== undefined) await saveFamily(tx, assetId, { path, family });
  }
  const changed = await findAsset(tx, assetId);
  return changed ? findHead(tx, changed) : head;
}

/** Finds the branch again under the lock, and copies its initial files. */
async function openBranch(tx: Transaction, assetId: string, name: string): Promise<Branch> {
  const branch = await findBranch(tx, assetId, name);
  if (!branch) throw notFoundError(`There is no branch ${name}`);
  await copyForkedFiles(tx, assetId, branch);
  return branch;
}

/** Returns the paths of all files to remove. */
async function listRemoved(
  tx: Transaction,
  asset: AssetRow,
  { removeFiles, removeFolders, end }: FileChanges & { end: number | null },
): Promise<Set<string>> {
  const rows = await newestFiles(tx, asset.id, end)
    .select('path')
    .where(sql<boolean>`path = any(${removeFiles}::text[])`)
    .execute();
  const removed = new Set(rows.map(({ path }) => path));
  const missing = removeFiles.find((path) => !removed.has(path));
  if (missing !== undefined) throw notThere('file', missing);
  const folders = new Set(removeFolders);
  const outermost = [...folders].filter(
    (folder) => !foldersAbove(folder).some((above) => folders.has(above)),
  );
  const below = await listFilesInFolders(tx, asset.id, { folders: outermost, end });
  const found = new Set(below.map(({ folder }) => folder));
  const empty = outermost.find((folder) => !found.has(folder));
  if (empty !== undefined) throw notThere('folder', empty);
  for (const { path } of below) removed.add(path);
  return removed;
}

function notThere(what: 'file' | 'folder', path: string): AppError {
  return notFoundError(`A ${what} with this name doesn't exist: ${path}`, { param: 'path' });
}

/** Returns the files that differ from the newest revision. If a path occurs twice, its last file counts. */
async function listChanged(
  tx: Transaction,
  asset: AssetRow,
  { put, removed, end }: { put: NewFile[]; removed: Set<string>; end: number | null },
): Promise<NewFile[]> {
  const wanted = new Map(put.map((file) => [file.path, file]));
  const rows = await newestFiles(tx, asset.id, end)
    .select(['path', 'sha256'])
    .where(sql<boolean>`path = any(${[...wanted.keys()]}::text[])`)
    .execute();
  for (const { path, sha256 } of rows) {
    if (wanted.get(path)?.sha256 !== sha256) continue;
    wanted.delete(path);
    removed.delete(path);
  }
  return [...wanted.values()];
}

type PutFilesInput = {
  assetId: string;
  userId: string;
  /** The newest revision when the files were chosen; null if there was none. */
  revisionId: string | null;
  files: NewFile[];
  /** The field of the call that names the files. */
  param: string;
};

/**
 * Step: adds a revision with these files to an asset of the user; they replace files with the same paths. The
 * store must contain the bytes. Throws AppError 'conflict' if the asset has changed since the files were
 * chosen, or if a path would be both a file and a folder, the errors of `lockChangeableAsset`, and
 * 'payload_too_large'.
 */
export async function putFiles(
  tx: Transaction,
  config: Services['config'],
  { assetId, userId, revisionId, files, param }: PutFilesInput,
): Promise<string> {
  const asset = await lockChangeableAsset(tx, { assetId, userId });
  if (asset.revision_id !== revisionId) {
    throw conflict(`${asset.title} has changed in the meantime. Please try again`);
  }
  await assertNoPathConflicts(tx, assetId, { put: files, removed: new Set(), param });
  await lockBlobRows(
    tx,
    files.map(({ sha256 }) => sha256),
  );
  const quota = await readQuota({ config, db: tx }, userId);
  await assertBlobsFitQuota(tx, { userId, quota, blobs: files, param });
  const added = await addRevision(tx, asset, {
    put: files,
    remove: [],
    message: files.length === 1 ? `Add ${files[0]?.path}` : `Add ${files.length} files`,
    authorUserId: userId,
  });
  await recordAudit(tx, {
    userId,
    action: 'asset.files_added',
    detail: { asset_id: assetId, files: String(files.length) },
  });
  return added;
}

type Change = { put: NewFile[]; removed: Set<string>; param: string; end?: number | null };

/**
 * Step: throws AppError 'conflict' with the field `param` if a path would be both a file and a folder. A
 * workload could not write both to its disk.
 */
export async function assertNoPathConflicts(
  tx: Transaction,
  assetId: string,
  { put, removed, param, end }: Change,
): Promise<void> {
  const paths = put.map(({ path }) => path);
  const folders = new Set(paths.flatMap(foldersAbove));
  const clash =
    paths.find((path) => folders.has(path)) ??
    (await findPathConflict(tx, assetId, { paths, folders: [...folders], removed: [...removed], end }));
  if (clash === undefined) return;
  throw conflict(`${clash} cannot be a file and a folder. Delete the existing one first`, { param });
}

/** Returns the parent folders of a path, outermost first. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
