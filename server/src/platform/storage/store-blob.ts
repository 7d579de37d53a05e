import type { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { afterDeletion, assertNotBeingDeleted, beginDeletion, endDeletion } from './blob-deletions.ts';
import type { Blob, WriteOptions } from './blob-store.ts';
import { deleteUnownedBlob } from './owner-queries.ts';
import { lockBytes, markStored, upsertBlob } from './queries.ts';

/**
 * Stores bytes, which are collected unless another table references them soon. They are registered before
 * they are visible, and `collectBlob` records a deletion before it deletes their row: even if the server is
 * killed, the store has no bytes unknown to the database. Throws errors of the store.
 */
export async function storeBlob(
  services: Pick<Services, 'blobs' | 'db'>,
  bytes: Readable,
  options?: Omit<WriteOptions, 'beforeVisible'>,
): Promise<Blob> {
  const stored = await services.blobs.write(bytes, { ...options, beforeVisible: registerWith(services) });
  // Until now readers may have read earlier damaged bytes.
  await markStored(services.db, stored.sha256);
  return stored;
}

/** Like `storeBlob`, for a local file; `isLinked` if the store has a hard link and no copy. */
export async function adoptBlob(
  services: Pick<Services, 'blobs' | 'db'>,
  localPath: string,
): Promise<Blob & { isLinked: boolean }> {
  const stored = await services.blobs.adopt(localPath, registerWith(services));
  await markStored(services.db, stored.sha256);
  return stored;
}

function registerWith(services: Pick<Services, 'blobs' | 'db'>) {
  return (blob: Blob) =>
    afterDeletion(services, blob.sha256, () =>
      inTransaction(services.db, async (tx) => {
        await lockBytes(tx, blob.sha256);
        await assertNotBeingDeleted(tx, blob.sha256);
        await upsertBlob(tx, blob);
      }),
    );
}

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
