import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { ownsBlob } from '../../../platform/storage/owner-queries.ts';

/**
 * Returns bytes that the caller has uploaded or stores in a file. Throws AppError('invalid_request') for any
 * other hash: knowing the hash of another user's file must not give access to it.
 */
export async function findUploaded({ blobs, caller, db }: Context, sha256: string): Promise<Blob> {
  const found = (await ownsBlob(db, caller.userId, sha256)) ? await blobs.stat(sha256) : null;
  if (found) return { sha256, sizeBytes: found.sizeBytes };
  throw refused('oid', `You have not uploaded a file with the SHA-256 ${sha256}`);
}
