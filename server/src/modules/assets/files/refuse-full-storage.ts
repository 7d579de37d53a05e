import { formatBytes } from '@bakehouse/contract/labels';
import type { Services } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { readQuota } from './storage-quota.ts';

/** Step: throws AppError 'payload_too_large' if the quota is used up, for work with an unknown output. */
export async function refuseFullStorage(
  tx: Transaction,
  config: Services['config'],
  userId: string,
): Promise<void> {
  const quota = await readQuota({ config, db: tx }, userId);
  if (quota?.leftBytes !== 0) return;
  throw new AppError('payload_too_large', {
    publicMessage:
      `Nothing is left of the ${formatBytes(quota.limitBytes)} that you can store. ` +
      'Delete datasets, models or pictures that you no longer need.',
  });
}
