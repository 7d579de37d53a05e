import type { Services } from '../../context.ts';
import type { Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { AppError } from '../../errors.ts';
import type { Blob } from '../blob-store.ts';
import { lockStoredBytes, ownsBlob } from '../owner-queries.ts';
import { readBlobState } from '../queries.ts';
import { insertUpload, sumUnfinished } from './queries.ts';
import { choosePartBytes, type Upload } from './upload.ts';

/** Unfinished uploads per user: far more than any user sends concurrently. */
const UNFINISHED_MAX = 1000;

type Input = {
  userId: string;
  /** At least 1. */
  sizeBytes: number;
  /** Hash of the whole file, if the sender knows it. */
  sha256: string | null;
  /** Defaults to a choice by size; a file sent in one piece is one part. */
  partBytes?: number;
};

/**
 * The transaction that opens an upload: takes its locks, opens it, checks the user's remaining quota, and
 * writes the reference to the upload.
 */
type Opening = (tx: Transaction, open: () => Promise<Upload>) => Promise<Upload>;

/**
 * Opens an upload of a file in parts. If the user already has these bytes it is complete immediately, with
 * its `blob`. Throws errors of `opening`, AppError('unavailable') if the disk has no room, and 'rate_limited'
 * for too many unfinished uploads.
 */
export async function openUpload(
  services: Pick<Services, 'blobs' | 'db'>,
  { userId, sizeBytes, sha256, partBytes = choosePartBytes(sizeBytes) }: Input,
  opening: Opening = (_tx, open) => open(),
): Promise<Upload> {
  const blob = sha256 === null ? null : await findOwn(services, { userId, sha256, sizeBytes });
  const storeKey = await services.blobs.parts.open(blob ? 0 : sizeBytes);
  try {
    return await inTransaction(services.db, (tx) =>
      opening(tx, async () => {
        await lockStoredBytes(tx, userId);
        await refuseMany(tx, userId);
        return insertUpload(tx, { userId, storeKey, sizeBytes, partBytes, announcedSha256: sha256, blob });
      }),
    );
  } catch (error) {
    await services.blobs.parts.abandon(storeKey);
    throw error;
  }
}

/** Returns the bytes if the user has them undamaged; never reveals other users' files. */
async function findOwn(
  { blobs, db }: Pick<Services, 'blobs' | 'db'>,
  { userId, sha256, sizeBytes }: Blob & { userId: string },
): Promise<Blob | null> {
  if (!(await ownsBlob(db, userId, sha256))) return null;
  if ((await readBlobState(db, sha256)).isDamaged) return null;
  return (await blobs.stat(sha256))?.sizeBytes === sizeBytes ? { sha256, sizeBytes } : null;
}

async function refuseMany(tx: Transaction, userId: string): Promise<void> {
  const { uploads } = await sumUnfinished(tx, userId);
  if (uploads < UNFINISHED_MAX) return;
  throw new AppError('rate_limited', {
    publicMessage: `At most ${UNFINISHED_MAX} uploads of one user may be unfinished. Complete or cancel some of them`,
  });
}
