import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type listLicences as endpoint, type LicenceName, licences } from '@bakehouse/contract/licences';
import type { Context } from '../../platform/context.ts';
import { findLicence } from './steps.ts';

/** Every licence that has to be accepted, as it stands with the caller. */
export async function listLicences({ db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  const names = Object.keys(licences) as LicenceName[];
  return {
    licences: await Promise.all(names.map((licence) => findLicence(db, { userId: caller.userId, licence }))),
  };
}
