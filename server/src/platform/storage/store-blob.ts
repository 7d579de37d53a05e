import type { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { afterDeletion, assertNotBeingDeleted, beginDeletion, endDeletion } from './blob-deletions.ts';
import type { Blob, WriteOptions } from './blob-store.ts';
import { deleteUnownedBlob } from './owner-queries.ts';
import { clearBlobDamage, lockBlobName, upsertBlob } from './queries.ts';

/**
 * Stores bytes. Unless another table references them soon, they are deleted again. The store never has bytes
 * that the database does not know, even if the server is killed: bytes are registered before they become
 * visible, and `collectBlob` records a deletion before it deletes their row. Throws errors of the store.
 */
export async function storeBlob(
  services: Pick<Services, 'blobs' | 'db'>,
  bytes: Readable,
  options?: Omit<WriteOptions, 'beforeVisible'>,
): Promise<Blob> {
  const stored = await services.blobs.write(bytes, { ...options, beforeVisible: registerWith(services) });
  // Readers before this point may have read earlier, damaged bytes, and must not mark the new ones.
  await clearBlobDamage(services.db, stored.sha256);
  return stored;
}

/** Like `storeBlob`, but for a local file. `isLinked`: the store has a hard link instead of a copy. */
export async function adoptBlob(
  services: Pick<Services, 'blobs' | 'db'>,
  localPath: string,
): Promise<Blob & { isLinked: boolean }> {
  const stored = await services.blobs.adopt(localPath, registerWith(services));
  await clearBlobDamage(services.db, stored.sha256);
  return stored;
}

function registerWith(services: Pick<Services, 'blobs' | 'db'>) {
  return (blob: Blob) =>
    afterDeletion(services, blob.sha256, () =>
      inTransaction(services.db, async (tx) => {
        await lockBlobName(tx, blob.sha256);
        await assertNotBeingDeleted(tx, blob.sha256);
        await upsertBlob(tx, blob);
      }),
    );
}

/**
 * Deletes a blob that has no owner and was not stored again. The deletion is recorded first, so that it can
 * be resumed after an interruption. Otherwise the unreferenced bytes would stay forever.
 */
export async function collectBlob(
  services: Pick<Services, 'db' | 'blobs'>,
  { sha256, untouchedSince }: { sha256: string; untouchedSince: Date },
): Promise<void> {
  const isUnowned = await inTransaction(services.db, async (tx) => {
    await lockBlobName(tx, sha256);
    if (!(await deleteUnownedBlob(tx, sha256, untouchedSince))) return false;
    await beginDeletion(tx, sha256);
    return true;
  });
  // If the same bytes are stored again now, that call waits for the deletion, and then registers and writes
  // them.
  if (isUnowned) await endDeletion(services, sha256);
}
