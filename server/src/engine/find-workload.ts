import type { Database, Transaction } from '../platform/db/database.ts';
import type { Workload } from './model/workload.ts';
import { columns, toWorkload } from './workload-row.ts';

/** Returns the workload, or null. */
export async function findWorkload(db: Database | Transaction, id: string): Promise<Workload | null> {
  const row = await db.selectFrom('workloads').select(columns).where('id', '=', id).executeTakeFirst();
  return row ? toWorkload(row) : null;
}
