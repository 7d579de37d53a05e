import type { Database, Transaction } from '../../../platform/db/database.ts';
import { listFilesBelow, listTree, type TreeRow } from '../files/folder-queries.ts';
import { type FileRow, listFiles } from '../queries.ts';

/** A revision by its number; number 0 has no files. */
export type OfRevision = { assetId: string; number: number };
export { CARD_PATH } from '../queries.ts';
export type { FileRow };

/** Returns files at or below a folder (empty: all files) after the path `after`, in order. */
export async function listFilesOf(
  db: Database | Transaction,
  {
    assetId,
    number,
    folder,
    after,
    limit,
  }: OfRevision & { folder: string; after: string | null; limit: number },
): Promise<FileRow[]> {
  return listFilesBelow(db, assetId, { path: folder, prefix: '', after, limit, number });
}

/** Lists the direct children of a folder from `start`, in the order of their paths. */
export async function listFolderOf(
  db: Database,
  { assetId, number, folder, start, limit }: OfRevision & { folder: string; start: string; limit: number },
): Promise<TreeRow[]> {
  return listTree(db, assetId, { folder, start, limit, number });
}

/** Returns a path as sent, and in the composed form (NFC) in which uploads and commits store it. */
export function spellingsOf(path: string): string[] {
  return [...new Set([path, path.normalize('NFC')])];
}

/** Returns the given files that exist in the revision. */
export async function findFilesOf(
  db: Database | Transaction,
  of: OfRevision & { paths: string[] },
): Promise<FileRow[]> {
  return listFiles(db, of);
}

/** Returns true if there are files below this path. */
export async function hasFolder(db: Database, of: OfRevision & { path: string }): Promise<boolean> {
  const [file] = await listFilesOf(db, { ...of, folder: of.path, after: of.path, limit: 1 });
  return file !== undefined;
}

/** Returns the folder's path as sent if it has files, otherwise the path in composed form (NFC). */
export async function findFolderSpelling(db: Database, of: OfRevision & { path: string }): Promise<string> {
  const composed = of.path.normalize('NFC');
  return composed === of.path || (await hasFolder(db, of)) ? of.path : composed;
}
