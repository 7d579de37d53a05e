import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { userAccount } from './ledger/accounts.ts';

/**
 * Locks the accounts of these users until the transaction ends, in the order of their ids in the database's
 * collation, like the ledger's functions.
 */
export async function lockUserAccounts(tx: Transaction, userIds: string[]): Promise<void> {
  await sql`
    select from ledger_accounts where id = any (${userIds.map(userAccount)}) order by id for no key update`.execute(
    tx,
  );
}
