import { randomBytes } from 'node:crypto';
import type { Services } from '../../context.ts';
import type { Database, Transaction } from '../../db/database.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { type AppError, notFoundError, tooMany } from '../../errors.ts';
import { defineJob } from '../../jobs/define-job.ts';
import type { Blob } from '../blob-store.ts';
import { lockStoredBytes, ownsBlob } from '../owner-queries.ts';
import { readBlobState } from '../queries.ts';
import {
  deleteUntouched,
  deleteUpload,
  deleteUploads,
  deleteUserUploads,
  deleteWhole,
  insertUpload,
  selectKnownKeys,
  selectUpload,
  sumUnfinished,
} from './queries.ts';
import { choosePartBytes, type Upload } from './upload.ts';

/** Maximum number of unfinished uploads per user; far more than anyone needs. */
const UNFINISHED_MAX = 1000;

const UNTOUCHED_MS = 7 * 24 * 60 * 60 * 1000;

/** Every hour, ends uploads without activity for a week, and deletes the parts of uploads that have ended. */
export const sweepUploadsJob = defineJob({
  name: 'platform.sweep-uploads',
  schedule: '37 * * * *',
  run: async ({ blobs, clock, db }: Pick<Services, 'blobs' | 'clock' | 'db'>) => {
    await deleteUntouched(db, new Date(clock.now().getTime() - UNTOUCHED_MS));
    // List the parts before reading the rows. An upload gets its row before its first part, so every listed
    // part of a current upload has a row.
    const keys = await blobs.parts.list();
    const known = await selectKnownKeys(db, keys);
    for (const key of keys) if (!known.has(key)) await blobs.parts.abandon(key);
  },
});

type Who = { uploadId: string; userId: string };

/** Ends an upload, complete or not, and deletes its parts. Throws AppError('not_found'). */
export async function endUpload({ blobs, db }: Pick<Services, 'blobs' | 'db'>, who: Who): Promise<void> {
  const storeKey = await deleteUpload(db, who);
  if (storeKey === null) throw noUpload();
  await blobs.parts.abandon(storeKey);
}

/**
 * Transaction step: deletes a complete upload, which then no longer owns its bytes. Call it after the same
 * transaction has referenced the bytes elsewhere. Does nothing if the upload does not exist.
 */
export async function releaseUpload(tx: Transaction, who: Who): Promise<void> {
  await deleteUpload(tx, who);
}

/** Like `releaseUpload`, for all complete uploads of the user with these bytes, except those in `except`. */
export async function releaseUploadsOf(
  tx: Transaction,
  bytes: { userId: string; sha256s: string[]; except: string[] },
): Promise<void> {
  await deleteWhole(tx, bytes);
}

/**
 * Like `releaseUpload` for many uploads, complete or not. Returns the store's keys of their parts, which the
 * caller may delete after the commit.
 */
export async function releaseUploads(
  tx: Transaction,
  { userId, uploadIds }: { userId: string; uploadIds: string[] },
): Promise<string[]> {
  return deleteUploads(tx, userId, uploadIds);
}

/** Transaction step: ends the uploads of a deleted user. */
export async function deleteUploadsOf(tx: Transaction, userId: string): Promise<void> {
  await deleteUserUploads(tx, userId);
}

/** Transaction step: gives a user bytes from another source, in the form of a complete upload. */
export async function insertCompleteUpload(
  tx: Transaction,
  { userId, blob }: { userId: string; blob: Blob },
): Promise<void> {
  await insertUpload(tx, {
    userId,
    // The store has no parts under this key.
    storeKey: randomBytes(16).toString('hex'),
    sizeBytes: blob.sizeBytes,
    partBytes: blob.sizeBytes,
    announcedSha256: blob.sha256,
    blob,
  });
}

type Input = {
  userId: string;
  /** At least 1. */
  sizeBytes: number;
  /** Hash of the whole file, if the sender knows it. */
  sha256: string | null;
  /** Defaults to a size chosen by the file size. To send the file in one piece, set it to the file size. */
  partBytes?: number;
};

/**
 * What the caller does in the transaction that opens an upload: takes locks, calls `open`, checks the user's
 * remaining quota, and references the upload.
 */
type Opening = (tx: Transaction, open: () => Promise<Upload>) => Promise<Upload>;

/**
 * Opens an upload of a file in parts. If the user already has these bytes, the upload is complete immediately
 * and has a `blob`. Throws errors of `opening`, AppError('unavailable') if there is not enough disk space,
 * and 'rate_limited' if the user has too many unfinished uploads.
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
        await assertUploadLimit(tx, userId);
        return insertUpload(tx, { userId, storeKey, sizeBytes, partBytes, announcedSha256: sha256, blob });
      }),
    );
  } catch (error) {
    await services.blobs.parts.abandon(storeKey);
    throw error;
  }
}

/** Returns the bytes if this user has them undamaged. Does not reveal whether others have them. */
async function findOwn(
  { blobs, db }: Pick<Services, 'blobs' | 'db'>,
  { userId, sha256, sizeBytes }: Blob & { userId: string },
): Promise<Blob | null> {
  if (!(await ownsBlob(db, userId, sha256))) return null;
  if ((await readBlobState(db, sha256)).isDamaged) return null;
  return (await blobs.stat(sha256))?.sizeBytes === sizeBytes ? { sha256, sizeBytes } : null;
}

async function assertUploadLimit(tx: Transaction, userId: string): Promise<void> {
  const { uploads } = await sumUnfinished(tx, userId);
  if (uploads < UNFINISHED_MAX) return;
  throw tooMany(
    `At most ${UNFINISHED_MAX} uploads of one user may be unfinished. Complete or cancel some of them`,
  );
}

/** Returns the user's upload. Throws AppError('not_found') for missing or another user's uploads. */
export async function requireUpload(
  db: Database,
  who: { uploadId: string; userId: string },
): Promise<Upload> {
  const upload = await selectUpload(db, who);
  if (!upload) throw noUpload();
  return upload;
}

export function noUpload(): AppError {
  return notFoundError('No upload has this id. It may have ended, or been abandoned');
}
