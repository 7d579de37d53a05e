import { randomBytes } from 'node:crypto';
import type { Transaction } from '../../db/database.ts';
import type { Blob } from '../blob-store.ts';
import { insertUpload } from './queries.ts';

/** Transaction step: stores bytes from another source for a user as a complete upload. */
export async function keepUpload(
  tx: Transaction,
  { userId, blob }: { userId: string; blob: Blob },
): Promise<void> {
  await insertUpload(tx, {
    userId,
    // No part has ever been written.
    storeKey: randomBytes(16).toString('hex'),
    sizeBytes: blob.sizeBytes,
    partBytes: blob.sizeBytes,
    announcedSha256: blob.sha256,
    blob,
  });
}
