import type { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { afterDeletion, refuseWhileDeleted } from './blob-deletions.ts';
import type { Blob, WriteOptions } from './blob-store.ts';
import { lockBytes, markStored, upsertBlob } from './queries.ts';

/**
 * Stores bytes, so that they are collected unless another table refers to them soon. They are
 * registered before they are visible, and `collectBlob` notes them before it deletes their row: also where the server is
 * killed the store has none that the database does not know. Throws what the store throws.
 */
export async function storeBlob(
  services: Pick<Services, 'blobs' | 'db'>,
  bytes: Readable,
  options?: Omit<WriteOptions, 'beforeVisible'>,
): Promise<Blob> {
  const stored = await services.blobs.write(bytes, { ...options, beforeVisible: registerWith(services) });
  // Until now readers may have met damaged bytes of before.
  await markStored(services.db, stored.sha256);
  return stored;
}

/** The same for a file of this machine; `isLinked`: the store has it under a second name, and no copy. */
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
