import type { Readable } from 'node:stream';
import type { Services } from '../context.ts';
import { inTransaction } from '../db/in-transaction.ts';
import { AppError } from '../errors.ts';
import type { Blob, WriteOptions } from './blob-store.ts';
import { upsertBlob } from './queries.ts';

/**
 * Stores bytes and registers them, so that they are collected unless another table refers to them
 * soon. Throws what the store throws, and AppError('unavailable') in the unlikely case that the
 * same bytes were being collected meanwhile.
 */
export async function storeBlob(
  services: Pick<Services, 'blobs' | 'db'>,
  bytes: Readable,
  options?: WriteOptions,
): Promise<Blob> {
  const blob = await services.blobs.write(bytes, options);
  await inTransaction(services.db, async (tx) => {
    // Waits for a collector that holds the row; then the bytes may be gone.
    await upsertBlob(tx, blob);
    await services.blobs.localPath(blob.sha256).catch((cause: unknown) => {
      throw new AppError('unavailable', {
        publicMessage: 'The file could not be stored. Please upload it again.',
        cause,
      });
    });
  });
  return blob;
}
