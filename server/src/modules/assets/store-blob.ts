import type { Readable } from 'node:stream';
import type { Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Blob } from '../../platform/storage/blob-store.ts';
import { upsertBlobs } from './queries.ts';

/**
 * Stores bytes and registers them, so that they are collected unless a revision refers to them
 * soon. Throws what the store throws, and AppError('unavailable') in the unlikely case that the
 * same bytes were being collected meanwhile.
 */
export async function storeBlob(
  services: Services,
  bytes: Readable,
  limit?: { sizeBytesMax: number; tooLargeMessage: string },
): Promise<Blob> {
  const blob = await services.blobs.write(bytes, limit);
  await services.db.transaction().execute(async (tx) => {
    // Waits for a collector that holds the row; then the bytes may be gone.
    await upsertBlobs(tx, [blob]);
    await services.blobs.localPath(blob.sha256).catch((cause: unknown) => {
      throw new AppError('unavailable', {
        publicMessage: 'The file could not be kept. Please upload it again.',
        cause,
      });
    });
  });
  return blob;
}
