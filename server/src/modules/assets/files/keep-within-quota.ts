import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import type { Blob } from '../../../platform/storage/blob-store.ts';
import { readQuota, takeStorage } from './storage-quota.ts';

/**
 * Step of the transaction in which a user gets a blob that is no file of an asset. Throws AppError 'payload_too_large', naming
 * the field that it came in, where it has no room in what the user may store.
 */
export async function keepWithinQuota(
  tx: Transaction,
  config: Services['config'],
  { userId, blob, param }: { userId: string; blob: Blob; param: string },
): Promise<void> {
  const quota = await readQuota({ config, db: tx }, userId);
  await takeStorage(tx, { userId, quota, blobs: [blob], param });
}
