import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { deleteBlobRow, isRegistered, lockBytes, touchBlob } from './queries.ts';

/**
 * Deletes a blob that nobody has wanted since then and nothing refers to. Its bytes go when the
 * database has forgotten it for good, unless they have been stored again meanwhile.
 */
export async function collectBlob(
  services: Pick<Services, 'db' | 'blobs'>,
  { sha256, untouchedSince }: { sha256: string; untouchedSince: Date },
): Promise<void> {
  try {
    if (!(await inTransaction(services.db, (tx) => deleteBlobRow(tx, sha256, untouchedSince)))) return;
  } catch (error) {
    if (!isForeignKeyError(error)) throw error;
    await touchBlob(services.db, sha256);
    return;
  }
  await inTransaction(services.db, async (tx) => {
    await lockBytes(tx, sha256);
    if (!(await isRegistered(tx, sha256))) await services.blobs.delete(sha256);
  });
}

/** Whether PostgreSQL refused a change because another row refers to the changed one. */
function isForeignKeyError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === '23503';
}
