import type { InputOf } from '@bakehouse/contract/endpoint';
import { type acceptLicence as endpoint, type Licence, licences } from '@bakehouse/contract/licences';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError } from '../../platform/errors.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { insertAcceptance } from './queries.ts';
import { findLicence } from './steps.ts';

/** Records that the caller accepts a licence. Throws AppError 'conflict' if they read an outdated version. */
export async function acceptLicence(
  { db, clock, caller: { userId } }: Context,
  { licence, version }: InputOf<typeof endpoint>['body'],
): Promise<Licence> {
  const current = licences[licence];
  if (version !== current.version) {
    throw new AppError('conflict', {
      publicMessage: `The ${current.title} is at version ${current.version} by now. Read it again`,
      param: 'version',
    });
  }
  return inTransaction(db, async (tx) => {
    const isNew = await insertAcceptance(tx, {
      user_id: userId,
      licence,
      version,
      accepted_at: clock.now(),
    });
    if (isNew) await recordAudit(tx, { userId, action: 'licence.accepted', detail: { licence, version } });
    return findLicence(tx, { userId, licence });
  });
}
