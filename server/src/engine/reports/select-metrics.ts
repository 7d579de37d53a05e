import type { Database, Transaction } from '../../platform/db/database.ts';

/** The points of a workload by step; with `after` only those that were reported later. */
export async function selectMetrics(
  db: Database | Transaction,
  workloadId: string,
  after: Date | null = null,
): Promise<{ step: number; at: Date; values: Record<string, number> }[]> {
  const rows = await db
    .selectFrom('workload_metrics')
    .select(['step', 'at', 'values'])
    .where('workload_id', '=', workloadId)
    .$if(after !== null, (query) => query.where('at', '>', after))
    .orderBy('step')
    .execute();
  return rows.map((row) => ({ ...row, values: row.values as Record<string, number> }));
}
