import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { userAccount } from './ledger/accounts.ts';

/**
 * Nobody else moves, holds or gives the credits of these users until the transaction has ended. The order is the database's,
 * as in the functions of the ledger: its collation is not JavaScript's.
 */
export async function lockUserAccounts(tx: Transaction, userIds: string[]): Promise<void> {
  await sql`
    select from ledger_accounts where id = any (${userIds.map(userAccount)}) order by id for no key update`.execute(
    tx,
  );
}
