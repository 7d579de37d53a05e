import type { Database, Transaction } from '../../platform/db/database.ts';

type Db = Database | Transaction;

/** Returns the user's acceptances, oldest first. */
export async function selectAcceptances(db: Db, userId: string) {
  return db
    .selectFrom('licence_acceptances')
    .select(['licence', 'version', 'accepted_at'])
    .where('user_id', '=', userId)
    .orderBy('accepted_at')
    .execute();
}

/** Returns true if a row was inserted. */
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
