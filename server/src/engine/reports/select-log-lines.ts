import type { Database, Transaction } from '../../platform/db/database.ts';

/** Returns the last lines of a log, oldest first; `during` limits them to a period. */
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
