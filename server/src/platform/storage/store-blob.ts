import type { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { afterDeletion, refuseWhileDeleted } from './blob-deletions.ts';
import type { Blob, WriteOptions } from './blob-store.ts';
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
        await refuseWhileDeleted(tx, blob.sha256);
        await upsertBlob(tx, blob);
      }),
    );
}
