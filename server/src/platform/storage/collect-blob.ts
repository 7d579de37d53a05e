import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { deleteUnownedBlob } from './owner-queries.ts';
import { lockBytes } from './queries.ts';

/**
 * Deletes a blob, with its bytes, that has no owner and was not stored again since. Where it is interrupted the row
 * stays, so that the blob is collected again: bytes without a row would never be found.
 */
export async function collectBlob(
  services: Pick<Services, 'db' | 'blobs'>,
  { sha256, untouchedSince }: { sha256: string; untouchedSince: Date },
): Promise<void> {
  await inTransaction(services.db, async (tx) => {
    // Storing the same bytes again waits until these are gone, and registers and writes them anew.
    await lockBytes(tx, sha256);
    if (await deleteUnownedBlob(tx, sha256, untouchedSince)) await services.blobs.delete(sha256);
  });
}
