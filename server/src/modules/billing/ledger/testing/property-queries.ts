import { sql } from 'kysely';
import type { Database } from '../../../../platform/db/database.ts';
import { oneOf } from '../ledger-answers.ts';

/* Ledger queries that only the property tests need. */

/** Returns the totals of an API key. */
export async function getKeyTotals(db: Database, keyId: string): Promise<{ spent: bigint; held: bigint }> {
  return db
    .selectFrom('api_keys')
    .select(['spent_micro as spent', 'held_micro as held'])
    .where('id', '=', keyId)
    .executeTakeFirstOrThrow();
}

/** Counts API keys that exceed their budget or whose totals differ from their charges and open holds. */
export async function countWrongKeys(db: Database): Promise<number> {
  const { rows } = await sql<{ wrong: number }>`
    select count(*)::int as wrong
    from api_keys k
    left join (
      select refs ->> 'key_id' as key_id, sum(amount) as amount
      from ledger_transfers where hold_id is not null group by 1
    ) spent on spent.key_id = k.id::text
    left join (
      select refs ->> 'key_id' as key_id, sum(amount) as amount
      from ledger_holds where status = 'pending' group by 1
    ) held on held.key_id = k.id::text
    where k.spent_micro + k.held_micro > k.budget_micro
      or (k.spent_micro, k.held_micro) <> (coalesce(spent.amount, 0), coalesce(held.amount, 0))`.execute(db);
  return oneOf(rows).wrong;
}

/** Returns an account's remaining given credits by their expiry; null means never. */
export async function listPortions(
  db: Database,
  account: string,
): Promise<{ end: Date | null; left: bigint }[]> {
  const { rows } = await sql<{ end: Date | null; left: bigint }>`
    select nullif(expires_at, 'infinity') as "end", sum(remaining)::bigint as left
    from ledger_given where account_id = ${account} and remaining > 0 group by expires_at`.execute(db);
  return rows;
}

/** Returns an account's transfers in the order in which they locked it. */
export async function listSpendingOrder(
  db: Database,
  account: string,
): Promise<{ amount: bigint; given: bigint; kind: string; comes: boolean }[]> {
  const { rows } = await sql<{ amount: bigint; given: bigint; kind: string; comes: boolean }>`
    select amount, given, kind, credit_account_id = ${account} as comes
    from ledger_transfers where ${account} in (debit_account_id, credit_account_id) order by seq`.execute(db);
  return rows;
}
