import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { beginDeletion, endDeletion } from './blob-deletions.ts';
import { deleteUnownedBlob } from './owner-queries.ts';
import { lockBytes } from './queries.ts';

/**
 * Deletes a blob, with its bytes, that has no owner and was not stored again since. If it is interrupted, a
 * record remains so that they are deleted later; otherwise unreferenced bytes would never be found.
 */
export async function collectBlob(
  services: Pick<Services, 'db' | 'blobs'>,
  { sha256, untouchedSince }: { sha256: string; untouchedSince: Date },
): Promise<void> {
  const isUnowned = await inTransaction(services.db, async (tx) => {
    await lockBytes(tx, sha256);
    if (!(await deleteUnownedBlob(tx, sha256, untouchedSince))) return false;
    await beginDeletion(tx, sha256);
    return true;
  });
  // Storing the same bytes again waits until these are deleted, and then registers and writes them again.
  if (isUnowned) await endDeletion(services, sha256);
}
