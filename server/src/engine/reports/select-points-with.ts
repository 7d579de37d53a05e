import { sql } from 'kysely';
import type { Database, Transaction } from '../../platform/db/database.ts';

export type MetricPoint = { step: number; values: Record<string, number> };

/** The points of several workloads that have any of the named values, each by step. */
export async function selectPointsWith(
  db: Database | Transaction,
  workloadIds: string[],
  names: readonly string[],
): Promise<Map<string, MetricPoint[]>> {
  const rows = await db
    .selectFrom('workload_metrics')
    .select(['workload_id', 'step', 'values'])
    .where('workload_id', '=', sql<string>`any(${workloadIds}::uuid[])`)
    .where(sql<boolean>`values ?| ${names}::text[]`)
    .orderBy('workload_id')
    .orderBy('step')
    .execute();
  const points = rows.map((row) => ({ ...row, values: row.values as Record<string, number> }));
  return Map.groupBy(points, ({ workload_id }) => workload_id);
}
