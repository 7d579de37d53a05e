import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readQuota, takeStorage } from './storage-quota.ts';

/**
 * Step: charges a blob outside of any asset to the user's quota. Throws AppError 'payload_too_large' with the
 * field `param` if it does not fit.
 */
export async function keepWithinQuota(
  tx: Transaction,
  config: Services['config'],
  { userId, blob, param }: { userId: string; blob: Blob; param: string },
): Promise<void> {
  const quota = await readQuota({ config, db: tx }, userId);
  await takeStorage(tx, { userId, quota, blobs: [blob], param });
}
