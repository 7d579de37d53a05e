import type { Transaction } from '../../../platform/db/database.ts';
import { conflict } from '../../../platform/errors.ts';
import { findClash } from '../files/folder-queries.ts';
import type { NewFile } from './add-revision.ts';

type Change = { put: NewFile[]; removed: Set<string>; param: string; end?: number | null };

/**
 * Step: throws AppError 'conflict' with the field `param` if a path would be both a file and a folder: a
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
    (await findClash(tx, assetId, { paths, folders: [...folders], removed: [...removed], end }));
  if (clash === undefined) return;
  throw conflict(`${clash} cannot be a file and a folder. Delete the existing one first`, { param });
}

/** Returns the parent folders of a path, outermost first. */
export function foldersAbove(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}
