import type { Database, Transaction } from '../../platform/db/database.ts';

/** Returns the points of a workload by step: those reported after a time, or of later steps. */
export async function selectMetrics(
  db: Database | Transaction,
  workloadId: string,
  { after, afterStep }: { after?: Date; afterStep?: number } = {},
): Promise<{ step: number; at: Date; values: Record<string, number> }[]> {
  const rows = await db
    .selectFrom('workload_metrics')
    .select(['step', 'at', 'values'])
    .where('workload_id', '=', workloadId)
    .$if(after !== undefined, (query) => query.where('at', '>', after ?? null))
    .$if(afterStep !== undefined, (query) => query.where('step', '>', afterStep ?? null))
    .orderBy('step')
    .execute();
  return rows.map((row) => ({ ...row, values: row.values as Record<string, number> }));
}

/** Returns the newest points of a workload, newest first, up to the step `upToStep`. */
export async function selectNewestMetrics(
  db: Database | Transaction,
  workloadId: string,
  { upToStep, limit }: { upToStep: number | null; limit: number },
): Promise<Awaited<ReturnType<typeof selectMetrics>>> {
  const rows = await db
    .selectFrom('workload_metrics')
    .select(['step', 'at', 'values'])
    .where('workload_id', '=', workloadId)
    .$if(upToStep !== null, (query) => query.where('step', '<=', upToStep))
    .orderBy('step', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ ...row, values: row.values as Record<string, number> }));
}
