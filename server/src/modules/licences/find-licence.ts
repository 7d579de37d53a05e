import { type Licence, type LicenceName, licences } from '@bakehouse/contract/licences';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { selectAcceptances } from './queries.ts';

/** A licence, and when the user accepted its current version, if ever. */
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
