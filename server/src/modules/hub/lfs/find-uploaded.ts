import type { Context } from '../../../platform/context.ts';
import { refused } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { ownsBlob } from '../../../platform/storage/owner-queries.ts';

/**
 * Bytes of the caller, who has uploaded them or has them in some file. Throws AppError('invalid_request') for any other:
 * whoever knows the hash of what somebody else has must not get it.
 */
export async function findUploaded({ blobs, caller, db }: Context, sha256: string): Promise<Blob> {
  const found = (await ownsBlob(db, caller.userId, sha256)) ? await blobs.stat(sha256) : null;
  if (found) return { sha256, sizeBytes: found.sizeBytes };
  throw refused('oid', `You have not uploaded a file with the SHA-256 ${sha256}`);
}
