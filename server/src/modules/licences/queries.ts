import type { Database, Transaction } from '../../platform/db/database.ts';

type Db = Database | Transaction;

/** All that the user has accepted, oldest first. */
export async function selectAcceptances(db: Db, userId: string) {
  return db
    .selectFrom('licence_acceptances')
    .select(['licence', 'version', 'accepted_at'])
    .where('user_id', '=', userId)
    .orderBy('accepted_at')
    .execute();
}

/** Answers whether it is new. */
export async function insertAcceptance(
  tx: Transaction,
  row: { user_id: string; licence: string; version: string; accepted_at: Date },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('licence_acceptances')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows > 0n;
}
