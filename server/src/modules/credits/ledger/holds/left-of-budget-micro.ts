import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';

/** What the budget of an API key leaves in its current period, holds taken off; null: it has none. */
export async function leftOfBudgetMicro(tx: Transaction, keyId: string): Promise<bigint | null> {
  const isCurrent = sql`counted_since >= budget_period_start(budget_period, now())`;
  const key = await tx
    .selectFrom('api_keys')
    .select(
      sql<bigint>`greatest(0, budget_micro - held_micro - case when ${isCurrent} then spent_micro else 0 end)`.as(
        'left',
      ),
    )
    .where('id', '=', keyId)
    .where('budget_micro', 'is not', null)
    .executeTakeFirst();
  return key?.left ?? null;
}
