import { formatBytes } from '@bakehouse/contract/labels';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { type AppError, payloadTooLarge } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { findStoredBytes, lockStoredBytes, ownsBlob } from '../../../platform/storage/owner-queries.ts';
import { sumUnfinished } from '../../../platform/storage/uploads/queries.ts';
import type { Upload } from '../../../platform/storage/uploads/upload.ts';

/** A user's storage limit and the bytes left below it; null if storage is unlimited. */
export type Quota = { limitBytes: number; leftBytes: number } | null;

/**
 * Reads the user's quota. Uploads in parts count from their start. Results of runs also count, but are stored
 * even above the quota, because the user has paid for them.
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

/** Throws AppError 'payload_too_large' with the field `param` if the bytes do not fit into the quota. */
export async function assertFitsQuota(
  services: Pick<Services, 'config' | 'db'>,
  { userId, sizeBytes, param }: { userId: string; sizeBytes: number; param: string },
): Promise<void> {
  const quota = await readQuota(services, userId);
  if (quota && sizeBytes > quota.leftBytes)
    throw quotaExceeded(quota, { needed: formatBytes(sizeBytes), param });
}

/**
 * Step: checks that blobs which an asset is about to reference fit into the user's quota. Takes a lock,
 * because concurrent uploads may each have seen the same free space. Bytes that the user already stores do
 * not count again; triggers update the total. Throws AppError 'payload_too_large' with the field `param`.
 */
export async function assertBlobsFitQuota(
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
 * Step: throws AppError 'payload_too_large' if the upload in parts that was just opened exceeds the user's
 * quota.
 */
export async function assertUploadFitsQuota(
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

/** Returns the error for an exceeded quota. `needed` is the formatted size, `param` the files' field. */
export function quotaExceeded(
  quota: NonNullable<Quota>,
  { needed, param, files = 1 }: { needed: string; param: string; files?: number },
): AppError {
  return payloadTooLarge(
    `${files === 1 ? 'This file needs' : 'These files need'} ${needed}, and ${formatBytes(quota.leftBytes)} of your ` +
      `${formatBytes(quota.limitBytes)} are left. Delete datasets or models that you no longer need. Earlier versions of a ` +
      'file count until its dataset or model is deleted.',
    { param },
  );
}

/**
 * Step: checks that a blob which belongs to no asset, e.g. an uploaded picture, fits into the user's quota.
 * Throws AppError 'payload_too_large' with the field `param` if it does not fit.
 */
export async function assertBlobFitsQuota(
  tx: Transaction,
  config: Services['config'],
  { userId, blob, param }: { userId: string; blob: Blob; param: string },
): Promise<void> {
  const quota = await readQuota({ config, db: tx }, userId);
  await assertBlobsFitQuota(tx, { userId, quota, blobs: [blob], param });
}

/**
 * Step: throws AppError 'payload_too_large' if the quota is used up. For work whose output size is unknown.
 */
export async function assertStorageLeft(
  tx: Transaction,
  config: Services['config'],
  userId: string,
): Promise<void> {
  const quota = await readQuota({ config, db: tx }, userId);
  if (quota?.leftBytes !== 0) return;
  throw payloadTooLarge(
    `Nothing is left of the ${formatBytes(quota.limitBytes)} that you can store. ` +
      'Delete datasets, models or pictures that you no longer need.',
  );
}
