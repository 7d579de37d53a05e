import type { Database, Transaction } from '../../platform/db/database.ts';

/** Returns the last lines of a log, oldest first. `during` limits them to a period. */
export async function selectLogLines(
  db: Database | Transaction,
  workloadId: string,
  limit: number,
  during: { from: Date | null; until: Date | null } = { from: null, until: null },
): Promise<{ at: Date; line: string }[]> {
  let query = db.selectFrom('workload_logs').select(['at', 'line']).where('workload_id', '=', workloadId);
  if (during.from) query = query.where('at', '>=', during.from);
  if (during.until) query = query.where('at', '<=', during.until);
  const rows = await query.orderBy('id', 'desc').limit(limit).execute();
  return rows.reverse();
}

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
