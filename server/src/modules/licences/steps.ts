import { type Licence, type LicenceName, licences } from '@bakehouse/contract/licences';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { selectAcceptances } from './queries.ts';

/** Returns a licence and when the user accepted its current version; null if never. */
export async function findLicence(
  db: Database | Transaction,
  { userId, licence }: { userId: string; licence: LicenceName },
): Promise<Licence> {
  const words = licences[licence];
  const acceptance = (await selectAcceptances(db, userId)).find(
    (one) => one.licence === licence && one.version === words.version,
  );
  return { licence, ...words, accepted_at: acceptance?.accepted_at.toISOString() ?? null };
}

/** Throws AppError 'licence_not_accepted' unless the user has accepted the current version. */
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

/** Returns the caller's acceptances with their versions, oldest first. */
export async function listOwnAcceptances({ db, caller }: Context) {
  return selectAcceptances(db, caller.userId);
}

/** Deletes the acceptances of a deleted user. */
export async function forgetAcceptances(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('licence_acceptances').where('user_id', '=', userId).execute();
}
