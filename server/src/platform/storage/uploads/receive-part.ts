import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { sequentialByKey } from '../../concurrency/one-at-a-time.ts';
import type { Services } from '../../context.ts';
import { conflict, invalidParam } from '../../errors.ts';
import { insertPart, selectPart } from './queries.ts';
import { countParts, placeOfPart, type UploadPart } from './upload.ts';
import { noUpload, requireUpload } from './uploads.ts';

type Input = {
  uploadId: string;
  userId: string;
  number: number;
  /** Hash of the part, if the sender provides it. */
  sha256: string | null;
  bytes: Readable;
};

/** One call at a time per part, because concurrent ones would write to the same place. */
const runInOrder = sequentialByKey();

/**
 * Receives one part of an upload. Parts may arrive in any order, and several at a time. A part counts once
 * its bytes are safely stored and it is recorded; then it is not written again. Throws AppError 'not_found'
 * for an unknown upload, 'invalid_request' for an invalid number, a wrong size or a wrong hash, and
 * 'conflict' if the part exists with other bytes.
 */
export async function receivePart(
  services: Pick<Services, 'blobs' | 'db'>,
  { uploadId, userId, number, sha256, bytes }: Input,
): Promise<UploadPart> {
  return runInOrder(`${uploadId} ${number}`, async () => {
    const upload = await requireUpload(services.db, { uploadId, userId });
    const place = placeOfPart(upload, number);
    if (!place) throw invalidParam('number', `The parts of this upload are 1 to ${countParts(upload)}`);
    const present = await selectPart(services.db, uploadId, number);
    if (present) return assertSamePart(present, sha256 ?? (await hashOf(bytes)));
    if (upload.blob) throw conflict('This upload has all its bytes');

    const written = await services.blobs.parts.write(upload.storeKey, place, bytes);
    if (sha256 !== null && written.sha256 !== sha256)
      throw invalidParam(
        'sha256',
        `Part ${number} came with the SHA-256 ${written.sha256}, not the announced one`,
      );
    await insertPart(services.db, uploadId, { number, ...written });
    const noted = await selectPart(services.db, uploadId, number);
    if (!noted) throw noUpload();
    return assertSamePart(noted, written.sha256);
  });
}

function assertSamePart(present: UploadPart, sha256: string): UploadPart {
  if (present.sha256 === sha256) return present;
  throw conflict(
    `Part ${present.number} is there with other bytes. Send those, or abandon the upload and begin again`,
  );
}

async function hashOf(bytes: Readable): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(bytes, hash);
  return hash.digest('hex');
}
