import { sequentialByKey } from '../../concurrency/one-at-a-time.ts';
import type { Services } from '../../context.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type AppError, conflict, invalidParam } from '../../errors.ts';
import { afterDeletion, assertNotBeingDeleted } from '../blob-deletions.ts';
import { type Blob, DamagedParts } from '../blob-store.ts';
import { lockStoredBytes } from '../owner-queries.ts';
import { clearBlobDamage, lockBlobName, upsertBlob } from '../queries.ts';
import { deleteParts, markComplete, selectParts } from './queries.ts';
import { countParts, type Upload, type UploadPart } from './upload.ts';
import { endUpload, noUpload, requireUpload } from './uploads.ts';

const runInOrder = sequentialByKey();

/**
 * Combines the parts of an upload into one blob. Can be repeated. Until the upload ends, its user owns the
 * bytes. It ends in the transaction that references the bytes (`endUpload`), or after a week without access.
 * Throws AppError 'not_found', 'conflict' if parts are missing or must be sent again, and 'unavailable'.
 * Throws 'invalid_request' and deletes the upload if the whole file does not have the announced hash.
 */
export async function completeUpload(
  services: Pick<Services, 'blobs' | 'db'>,
  who: { uploadId: string; userId: string },
): Promise<Blob> {
  return runInOrder(who.uploadId, async () => {
    const upload = await requireUpload(services.db, who);
    const present = await findBlob(services, upload);
    if (present) return present;
    const parts = await selectParts(services.db, upload.id);
    assertAllParts(upload, parts);
    try {
      return await makeBlob(services, upload, parts);
    } catch (error) {
      // Another process may have completed the upload.
      const made = await findBlob(services, await requireUpload(services.db, who));
      if (made) return made;
      if (error instanceof DamagedParts) {
        await deleteParts(services.db, upload.id, error.numbers);
        throw sendAgain(error.numbers, error);
      }
      if (error instanceof WrongWhole) {
        await endUpload(services, who);
        throw invalidParam(
          'sha256',
          `The file has the SHA-256 ${error.message}, not the announced one. Upload it again from its beginning`,
        );
      }
      throw error;
    }
  });
}

/**
 * Returns the bytes of a complete upload. Returns null if the upload is incomplete, or if its bytes are not
 * in their final place yet.
 */
async function findBlob({ blobs }: Pick<Services, 'blobs'>, { blob }: Upload): Promise<Blob | null> {
  return blob && (await blobs.stat(blob.sha256)) ? blob : null;
}

async function makeBlob(
  { blobs, db }: Pick<Services, 'blobs' | 'db'>,
  { id, userId, storeKey, sizeBytes, partBytes, announcedSha256 }: Upload,
  parts: UploadPart[],
): Promise<Blob> {
  const whole = { sizeBytes, partBytes, partSha256s: parts.map(({ sha256 }) => sha256), announcedSha256 };
  const blob = await blobs.parts.complete(storeKey, whole, async (found) => {
    if (announcedSha256 !== null && found.sha256 !== announcedSha256) throw new WrongWhole(found.sha256);
    await afterDeletion({ blobs, db }, found.sha256, () =>
      inTransaction(db, async (tx) => {
        // Same lock order as for all other changes to a user's storage.
        await lockStoredBytes(tx, userId);
        await lockBlobName(tx, found.sha256);
        await assertNotBeingDeleted(tx, found.sha256);
        await upsertBlob(tx, found);
        if (!(await markComplete(tx, id, found.sha256))) throw noUpload();
      }),
    );
  });
  await clearBlobDamage(db, blob.sha256);
  return blob;
}

/** The message is the actual hash of the bytes. */
class WrongWhole extends Error {}

function assertAllParts(upload: Upload, parts: UploadPart[]): void {
  const count = countParts(upload);
  if (parts.length === count) return;
  const missing = parts.findIndex(({ number }, index) => number !== index + 1);
  const first = (missing === -1 ? parts.length : missing) + 1;
  throw conflict(`${count - parts.length} of ${count} parts are missing, the first is part ${first}`);
}

function sendAgain(numbers: number[], cause: Error): AppError {
  const named = numbers.length === 1 ? `part ${numbers[0]}` : `parts ${numbers.join(', ')}`;
  return conflict(`The server has lost ${named}. Send ${numbers.length === 1 ? 'it' : 'them'} again`, {
    param: 'parts',
    cause,
  });
}
