import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type listLicences as endpoint, type LicenceName, licences } from '@bakehouse/contract/licences';
import type { Context } from '../../platform/context.ts';
import { findLicence } from './steps.ts';

/** Returns every licence that users must accept, with the caller's acceptance. */
export async function listLicences({ db, caller }: Context): Promise<ResponseOf<typeof endpoint>> {
  const names = Object.keys(licences) as LicenceName[];
  return {
    licences: await Promise.all(names.map((licence) => findLicence(db, { userId: caller.userId, licence }))),
  };
}
