import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import {
  type acceptLicence as acceptLicenceEndpoint,
  type Licence,
  type LicenceName,
  licences,
  type listLicences as listLicencesEndpoint,
} from '@bakehouse/contract/licences';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { AppError, conflict } from '../../platform/errors.ts';
import { recordAudit } from '../accounts/record-audit.ts';

/** Returns every licence that users must accept, with the caller's acceptance. */
export async function listLicences({
  db,
  caller,
}: Context): Promise<ResponseOf<typeof listLicencesEndpoint>> {
  const names = Object.keys(licences) as LicenceName[];
  return {
    licences: await Promise.all(names.map((licence) => findLicence(db, { userId: caller.userId, licence }))),
  };
}

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

/** Records that the caller accepts a licence. Throws AppError 'conflict' if they read an outdated version. */
export async function acceptLicence(
  { db, clock, caller: { userId } }: Context,
  { licence, version }: InputOf<typeof acceptLicenceEndpoint>['body'],
): Promise<Licence> {
  const current = licences[licence];
  if (version !== current.version) {
    throw conflict(`The current version of the ${current.title} is ${current.version}. Read it again`, {
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

/** Deletes the acceptances of a deleted user. */
export async function deleteLicenceAcceptances(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('licence_acceptances').where('user_id', '=', userId).execute();
}

type Db = Database | Transaction;

/** Returns the user's acceptances, oldest first. */
async function selectAcceptances(db: Db, userId: string) {
  return db
    .selectFrom('licence_acceptances')
    .select(['licence', 'version', 'accepted_at'])
    .where('user_id', '=', userId)
    .orderBy('accepted_at')
    .execute();
}

/** Returns true if a row was inserted. */
async function insertAcceptance(
  tx: Transaction,
  row: { user_id: string; licence: string; version: string; accepted_at: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('licence_acceptances')
    .values(row)
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}
