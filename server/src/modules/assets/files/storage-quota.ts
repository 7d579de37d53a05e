import { formatBytes } from '@bakehouse/contract/labels';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { findStoredBytes, lockStoredBytes, ownsBlob } from '../../../platform/storage/owner-queries.ts';

/** What a user may store, and how much of it is left; null where the operator sets no limit. */
export type Quota = { limitBytes: number; leftBytes: number } | null;

/** Reads the user's quota. Results of runs count but are never refused: they are paid for. */
export async function readQuota(
  { config, db }: Pick<Services, 'config' | 'db'>,
  userId: string,
): Promise<Quota> {
  if (config.storageGb === 0) return null;
  const limitBytes = config.storageGb * 1024 ** 3;
  return { limitBytes, leftBytes: Math.max(0, limitBytes - Number(await findStoredBytes(db, userId))) };
}

/**
 * Step of the transaction in which an asset of the user gets the blob: uploads that came at the same
 * time saw the same room, so it is looked at once more, one after the other. Bytes that the user
 * has already take no room. Throws AppError('payload_too_large') that names the field `param`, in which it came.
 */
export async function takeStorage(
  tx: Transaction,
  { userId, quota, blob, param }: { userId: string; quota: Quota; blob: Blob; param: string },
): Promise<void> {
  if (!quota) return;
  const storedBytes = Number(await lockStoredBytes(tx, userId));
  if (await ownsBlob(tx, userId, blob.sha256)) return;
  const leftBytes = Math.max(0, quota.limitBytes - storedBytes);
  if (blob.sizeBytes > leftBytes) {
    throw quotaExceeded({ ...quota, leftBytes }, { needed: formatBytes(blob.sizeBytes), param });
  }
}

/** `needed` is the size of the file in words, `param` the field that it came in. */
export function quotaExceeded(
  quota: NonNullable<Quota>,
  { needed, param }: { needed: string; param: string },
): AppError {
  return new AppError('payload_too_large', {
    publicMessage:
      `This file needs ${needed}, and ${formatBytes(quota.leftBytes)} of your ` +
      `${formatBytes(quota.limitBytes)} are left. Delete datasets or models that you no longer need.`,
    param,
  });
}
