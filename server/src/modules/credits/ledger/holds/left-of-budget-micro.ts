import { sql } from 'kysely';
import type { Transaction } from '../../../../platform/db/database.ts';

/** Returns the rest of an API key's budget in its current period, after holds; null without a budget. */
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
