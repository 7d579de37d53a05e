import type { Transaction } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';
import { findFileAbove, listFilesBelow } from '../folder-queries.ts';

/**
 * Step: throws AppError 'conflict' if the path is below another file, or is already a folder: a workload
 * could not write both to its disk.
 */
export async function refuseClash(
  tx: Transaction,
  { assetId, path, param }: { assetId: string; path: string; param: string },
): Promise<void> {
  const above = await findFileAbove(tx, assetId, path);
  if (above) throw clash(`${above} is a file: nothing can be put into it. Delete it first`, param);
  const below = await listFilesBelow(tx, assetId, { path, prefix: `${path}/`, after: null, limit: 1 });
  if (below.length > 0) throw clash(`${path} is a folder: delete its files first`, param);
}

function clash(publicMessage: string, param: string): AppError {
  return new AppError('conflict', { publicMessage, param });
}
