import { sql } from 'kysely';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { userAccount } from './accounts.ts';
import { callOnce } from './ledger-answers.ts';

/** Returns the amount that the user can spend: the balance minus the holds. */
export async function availableMicro(db: Database | Transaction, userId: string): Promise<bigint> {
  const answer = await callOnce<{ available: bigint }>(
    db,
    sql`select credits_posted - debits_posted - debits_pending as available
        from ledger_accounts where id = ${userAccount(userId)}`,
  );
  return answer.available;
}
