import type { LicenceName } from '@bakehouse/contract/licences';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { findLicence } from './find-licence.ts';

/** Step: throws AppError 'licence_not_accepted' unless the user has accepted the licence in its current version. */
export async function requireLicence(
  tx: Transaction,
  { userId, licence, title }: { userId: string; licence: LicenceName; title: string },
): Promise<void> {
  const found = await findLicence(tx, { userId, licence });
  if (found.accepted_at !== null) return;
  throw new AppError('licence_not_accepted', {
    publicMessage: `${title} is under the ${found.title}. Accept it before you deploy the model`,
    param: 'model_id',
  });
}
