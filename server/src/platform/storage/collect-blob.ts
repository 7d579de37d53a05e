import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { deleteUnownedBlob } from './owner-queries.ts';
import { isRegistered, lockBytes } from './queries.ts';

/**
 * Deletes a blob that nobody has wanted since then and nobody owns. Its bytes go when the database has
 * forgotten it for good, unless they have been stored again meanwhile.
 */
export async function collectBlob(
  services: Pick<Services, 'db' | 'blobs'>,
  { sha256, untouchedSince }: { sha256: string; untouchedSince: Date },
): Promise<void> {
  if (!(await inTransaction(services.db, (tx) => deleteUnownedBlob(tx, sha256, untouchedSince)))) return;
  await inTransaction(services.db, async (tx) => {
    await lockBytes(tx, sha256);
    if (!(await isRegistered(tx, sha256))) await services.blobs.delete(sha256);
  });
}
