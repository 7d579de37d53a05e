import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';
import { publishBalance } from '../ledger-answers.ts';

/** Releases at most `limit` holds that expired by `now`. Returns their number. */
export async function expireHolds(tx: Transaction, input: { now: Date; limit: number }): Promise<number> {
  const { rows } = await sql<{ debit_account_id: string }>`
    select debit_account_id from ledger_expire_holds(${input.now}, ${input.limit})`.execute(tx);
  await publishBalance(tx, [...new Set(rows.map((row) => row.debit_account_id))]);
  return rows.length;
}
