import type { Services } from '../../context.ts';
import { AppError } from '../../errors.ts';
import type { Blob } from '../blob-store.ts';
import { readBlobState } from '../queries.ts';
import { completeUpload } from './complete-upload.ts';
import type { Upload } from './upload.ts';

/**
 * Returns the bytes of an upload that is recorded as complete. If the server was killed before it moved them
 * to their final place, moves them now. Returns null if the bytes are lost or damaged.
 */
export async function findWhole(
  services: Pick<Services, 'blobs' | 'db'>,
  { id: uploadId, userId, blob }: Upload,
): Promise<Blob | null> {
  if (!blob) return null;
  try {
    if ((await readBlobState(services.db, blob.sha256)).isDamaged) return null;
    return await completeUpload(services, { uploadId, userId });
  } catch (error) {
    if (error instanceof AppError && ['conflict', 'not_found'].includes(error.code)) return null;
    throw error;
  }
}
