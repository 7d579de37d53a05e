import type { Database, Transaction } from '../platform/db/database.ts';
import type { Workload } from './model/workload.ts';
import { columns, toWorkload } from './workload-row.ts';

/** Returns the workloads with these ids. */
export async function findWorkloads(
  db: Database | Transaction,
  ids: string[],
): Promise<Map<string, Workload>> {
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom('workloads').select(columns).where('id', 'in', ids).execute();
  return new Map(rows.map((row) => [row.id, toWorkload(row)]));
}
