import type { Transaction } from '../../../platform/db/database.ts';
import { releaseUploads } from '../../../platform/storage/uploads/end-upload.ts';
import { deleteFiles } from './queries.ts';

/**
 * Step: discards what a clone has copied, except bytes that a dataset or model uses. Returns the store keys
 * of unfinished parts, like `releaseUploads`.
 */
export async function discardFiles(
  tx: Transaction,
  { id, userId }: { id: string; userId: string },
): Promise<string[]> {
  return releaseUploads(tx, { userId, uploadIds: await deleteFiles(tx, id) });
}
