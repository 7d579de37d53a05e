import type { Services } from '../../context.ts';
import type { Transaction } from '../../db/database.ts';
import { deleteUpload, deleteUploads, deleteUserUploads, deleteWhole } from './queries.ts';
import { noUpload } from './require-upload.ts';

type Who = { uploadId: string; userId: string };

/** Ends an upload in any state, and deletes its parts. Throws AppError('not_found'). */
export async function endUpload({ blobs, db }: Pick<Services, 'blobs' | 'db'>, who: Who): Promise<void> {
  const storeKey = await deleteUpload(db, who);
  if (storeKey === null) throw noUpload();
  await blobs.parts.abandon(storeKey);
}

/**
 * Step of the transaction that references the bytes of a complete upload, after it does so: the upload no
 * longer owns them. Ignores a missing upload.
 */
export async function releaseUpload(tx: Transaction, who: Who): Promise<void> {
  await deleteUpload(tx, who);
}

/** Like `releaseUpload` for the user's complete uploads with these bytes, except those used elsewhere. */
export async function releaseUploadsOf(
  tx: Transaction,
  bytes: { userId: string; sha256s: string[]; except: string[] },
): Promise<void> {
  await deleteWhole(tx, bytes);
}

/**
 * Like `releaseUpload` for many uploads, complete or not. Returns the keys of their parts, which may be
 * abandoned after the commit.
 */
export async function releaseUploads(
  tx: Transaction,
  { userId, uploadIds }: { userId: string; uploadIds: string[] },
): Promise<string[]> {
  return deleteUploads(tx, userId, uploadIds);
}

/** Transaction step: ends the uploads of a deleted user. */
export async function forgetUploads(tx: Transaction, userId: string): Promise<void> {
  await deleteUserUploads(tx, userId);
}
