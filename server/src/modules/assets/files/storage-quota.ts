import { formatBytes } from '@bakehouse/contract/labels';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { findStoredBytes, lockStoredBytes, ownsBlob } from '../../../platform/storage/owner-queries.ts';
import { sumUnfinished } from '../../../platform/storage/uploads/queries.ts';
import type { Upload } from '../../../platform/storage/uploads/upload.ts';

/** What a user may store, and how much of it is left; null where the operator sets no limit. */
export type Quota = { limitBytes: number; leftBytes: number } | null;

/**
 * Reads the user's quota. Results of runs count but are never refused: they are paid for. Uploads in parts count from the
 * moment they are opened.
 */
export async function readQuota(
  { config, db }: Pick<Services, 'config' | 'db'>,
  userId: string,
): Promise<Quota> {
  if (config.storageGb === 0) return null;
  const limitBytes = config.storageGb * 1024 ** 3;
  const takenBytes = Number(await findStoredBytes(db, userId)) + (await sumUnfinished(db, userId)).bytes;
  return { limitBytes, leftBytes: Math.max(0, limitBytes - takenBytes) };
}

/** Before bytes are stored: throws AppError('payload_too_large'), naming the field `param`, where so many have no room. */
export async function refuseLackOfRoom(
  services: Pick<Services, 'config' | 'db'>,
  { userId, sizeBytes, param }: { userId: string; sizeBytes: number; param: string },
): Promise<void> {
  const quota = await readQuota(services, userId);
  if (quota && sizeBytes > quota.leftBytes)
    throw quotaExceeded(quota, { needed: formatBytes(sizeBytes), param });
}

/**
 * Step of the transaction in which an asset of the user gets the blobs: uploads that came at the same
 * time saw the same room, so it is looked at once more, one after the other. Bytes that the user
 * has already take no room. Throws AppError('payload_too_large') that names the field `param`, in which it came.
 */
export async function takeStorage(
  tx: Transaction,
  { userId, quota, blobs, param }: { userId: string; quota: Quota; blobs: readonly Blob[]; param: string },
): Promise<void> {
  if (!quota) return;
  const storedBytes = Number(await lockStoredBytes(tx, userId));
  const takenBytes = storedBytes + (await sumUnfinished(tx, userId)).bytes;
  const leftBytes = Math.max(0, quota.limitBytes - takenBytes);
  let neededBytes = 0;
  for (const { sha256, sizeBytes } of new Map(blobs.map((blob) => [blob.sha256, blob])).values()) {
    if (!(await ownsBlob(tx, userId, sha256))) neededBytes += sizeBytes;
  }
  if (neededBytes > leftBytes) {
    const needed = formatBytes(neededBytes);
    throw quotaExceeded({ ...quota, leftBytes }, { needed, param, files: blobs.length });
  }
}

/**
 * Step of the transaction that has opened an upload in parts: throws AppError('payload_too_large') where it has no room in
 * what its user may store.
 */
export async function takeRoomForUpload(
  tx: Transaction,
  config: Services['config'],
  { upload, param }: { upload: Upload; param: string },
): Promise<void> {
  const { userId, sizeBytes, blob } = upload;
  if (blob || config.storageGb === 0) return;
  const limitBytes = config.storageGb * 1024 ** 3;
  const storedBytes = Number(await lockStoredBytes(tx, userId));
  const othersBytes = (await sumUnfinished(tx, userId)).bytes - sizeBytes;
  const leftBytes = Math.max(0, limitBytes - storedBytes - othersBytes);
  if (sizeBytes > leftBytes)
    throw quotaExceeded({ limitBytes, leftBytes }, { needed: formatBytes(sizeBytes), param });
}

/** `needed` is the size of the files in words, `param` the field that they came in. */
export function quotaExceeded(
  quota: NonNullable<Quota>,
  { needed, param, files = 1 }: { needed: string; param: string; files?: number },
): AppError {
  return new AppError('payload_too_large', {
    publicMessage:
      `${files === 1 ? 'This file needs' : 'These files need'} ${needed}, and ${formatBytes(quota.leftBytes)} of your ` +
      `${formatBytes(quota.limitBytes)} are left. Delete datasets or models that you no longer need. Earlier versions of a ` +
      'file count until its dataset or model is deleted.',
    param,
  });
}
