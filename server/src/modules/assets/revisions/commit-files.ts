import { sql } from 'kysely';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { lockBlobs } from '../../../platform/storage/queries.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { lockChangeableAsset } from '../access/lock-changeable-asset.ts';
import { addRevision, type NewFile } from '../add-revision.ts';
import { listFilesInFolders } from '../files/folder-queries.ts';
import { readQuota, takeStorage } from '../files/storage-quota.ts';
import { type AssetRow, findAsset, newestFiles } from '../queries.ts';
import { noteFamily } from '../recognise/note-family.ts';
import { addBranchRevision, type Branch, copyForkedFiles, endOf, findBranch } from './branches.ts';
import { type Commit, findBranchHead, findHead } from './find-commit.ts';
import { foldersAbove, refuseClashes } from './refuse-clashes.ts';

export type FileChanges = {
  put: NewFile[];
  /** Paths of files; each has to be there. */
  removeFiles: string[];
  /** Paths of folders; each has to have files. */
  removeFolders: string[];
};

type Input = FileChanges & {
  assetId: string;
  /** Null: main. */
  branch?: string | null;
  userId: string;
  message: string;
  /** What files of a model say of its family, by their paths. */
  families?: ReadonlyMap<string, string>;
  /** The id of the commit that has to be the newest, or its beginning; null: whichever is. */
  parentCommit: string | null;
};

/**
 * Step: commits changes of files to an asset of the user, whose bytes the store holds. What is removed and put is replaced;
 * where nothing changes the newest commit stays. Throws AppError 'precondition_failed' where another commit is the newest,
 * 'not_found' with param `path` for what is removed and is not there, 'conflict' for a path that would be a file and a folder,
 * and 'payload_too_large' beyond the user's quota.
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
  // Also where it is stale: whoever sends a commit again has maybe not heard of the first.
  if (put.length === 0 && remove.size === 0) return head;
  if (input.parentCommit !== null && !head.commitId.startsWith(input.parentCommit.toLowerCase())) {
    throw new AppError('precondition_failed', {
      publicMessage: 'A commit has happened since. Please refresh and try again.',
      param: 'parentCommit',
      shouldRetry: false,
    });
  }
  await refuseClashes(tx, assetId, { put, removed: remove, param: 'path', end });
  await lockBlobs(
    tx,
    put.map(({ sha256 }) => sha256),
  );
  const quota = await readQuota({ config, db: tx }, userId);
  await takeStorage(tx, { userId, quota, blobs: put, param: 'files' });
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
    if (family !== undefined) await noteFamily(tx, assetId, { path, family });
  }
  const changed = await findAsset(tx, assetId);
  return changed ? findHead(tx, changed) : head;
}

/** Finds the branch once more under the lock, with the files that it starts with. */
async function openBranch(tx: Transaction, assetId: string, name: string): Promise<Branch> {
  const branch = await findBranch(tx, assetId, name);
  if (!branch) throw new AppError('not_found', { publicMessage: `There is no branch ${name}` });
  await copyForkedFiles(tx, assetId, branch);
  return branch;
}

/** The paths of all files that are removed. */
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
  return new AppError('not_found', {
    publicMessage: `A ${what} with this name doesn't exist: ${path}`,
    param: 'path',
  });
}

/** Of each path the last file, without those that are there already and stay. */
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
