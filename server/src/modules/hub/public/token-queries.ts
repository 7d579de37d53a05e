import type { Database, Transaction } from '../../../platform/db/database.ts';

type Db = Database | Transaction;

export async function findToken(
  db: Db,
  userId: string,
): Promise<{ encrypted: Buffer; account: string; saved_at: Date } | undefined> {
  return db
    .selectFrom('hub_tokens')
    .select(['encrypted', 'account', 'saved_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

export async function upsertToken(
  tx: Transaction,
  row: { user_id: string; encrypted: Buffer; account: string; saved_at: Date },
): Promise<void> {
  const { user_id: _, ...changed } = row;
  await tx
    .insertInto('hub_tokens')
    .values(row)
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(changed))
    .execute();
}

/** Deletes a token. Returns false if there was none. */
export async function deleteToken(tx: Transaction, userId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('hub_tokens')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
