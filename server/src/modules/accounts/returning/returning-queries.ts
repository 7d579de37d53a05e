import type { Transaction } from '../../../platform/db/database.ts';

/** Returns false if the hash already exists; waits for a concurrent insert of the same hash. */
export async function insertKnownAddress(tx: Transaction, mailboxHash: Buffer): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('known_addresses')
    .values({ mailbox_hash: mailboxHash })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export async function isKnownAddress(tx: Transaction, mailboxHash: Buffer): Promise<boolean> {
  const row = await tx
    .selectFrom('known_addresses')
    .select('mailbox_hash')
    .where('mailbox_hash', '=', mailboxHash)
    .executeTakeFirst();
  return row !== undefined;
}

export async function setReturning(tx: Transaction, userId: string): Promise<void> {
  await tx.updateTable('users').set({ is_returning: true }).where('id', '=', userId).execute();
}
