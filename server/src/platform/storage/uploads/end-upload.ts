import type { Services } from '../../context.ts';
import type { Transaction } from '../../db/database.ts';
import { deleteUpload, deleteUploads, deleteUserUploads, deleteWhole } from './queries.ts';
import { noUpload } from './require-upload.ts';

type Who = { uploadId: string; userId: string };

/**
 * Ends an upload, whole or not, and deletes its parts: abandons it. Throws AppError('not_found') where the user has none
 * of this id.
 */
export async function endUpload({ blobs, db }: Pick<Services, 'blobs' | 'db'>, who: Who): Promise<void> {
  const storeKey = await deleteUpload(db, who);
  if (storeKey === null) throw noUpload();
  await blobs.parts.abandon(storeKey);
}

/**
 * Step of the transaction that refers to the bytes of a complete upload, after it does: the upload keeps them no more. One
 * that is not there any more is passed over.
 */
export async function releaseUpload(tx: Transaction, who: Who): Promise<void> {
  await deleteUpload(tx, who);
}

/** The same of all uploads of the user that are whole and have these bytes, but for those that something else waits for. */
export async function releaseUploadsOf(
  tx: Transaction,
  bytes: { userId: string; sha256s: string[]; except: string[] },
): Promise<void> {
  await deleteWhole(tx, bytes);
}

/** The same for many at once, whole or not. Answers the store's names for their parts, which may be abandoned once the transaction has committed. */
export async function releaseUploads(
  tx: Transaction,
  { userId, uploadIds }: { userId: string; uploadIds: string[] },
): Promise<string[]> {
  return deleteUploads(tx, userId, uploadIds);
}

/** Step: ends the uploads of a user who deletes their account. */
export async function forgetUploads(tx: Transaction, userId: string): Promise<void> {
  await deleteUserUploads(tx, userId);
}
