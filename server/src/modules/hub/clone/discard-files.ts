import type { Transaction } from '../../../platform/db/database.ts';
import { releaseUploads } from '../../../platform/storage/uploads/end-upload.ts';
import { deleteFiles } from './queries.ts';

/**
 * Step: gives up what a clone has copied; its bytes go, unless a dataset or model has them by now. Answers the store's names
 * for unfinished parts, as `releaseUploads` does.
 */
export async function discardFiles(
  tx: Transaction,
  { id, userId }: { id: string; userId: string },
): Promise<string[]> {
  return releaseUploads(tx, { userId, uploadIds: await deleteFiles(tx, id) });
}
