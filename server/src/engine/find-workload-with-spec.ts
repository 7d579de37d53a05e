import type { Database, Transaction } from '../platform/db/database.ts';
import type { WorkloadWithSpec } from './model/workload.ts';
import { columns, toSpec, toWorkload } from './workload-row.ts';

/** Returns the workload with its spec, or null. */
export async function findWorkloadWithSpec(
  db: Database | Transaction,
  id: string,
): Promise<WorkloadWithSpec | null> {
  const row = await db
    .selectFrom('workloads')
    .select([...columns, 'spec'])
    .where('id', '=', id)
    .executeTakeFirst();
  return row ? { ...toWorkload(row), spec: toSpec(row.spec) } : null;
}
