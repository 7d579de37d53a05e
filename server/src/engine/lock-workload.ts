import type { Transaction } from '../platform/db/database.ts';
import type { Workload } from './model/workload.ts';
import { columns, toWorkload } from './workload-row.ts';

/** Transaction step: returns the workload, locked until the transaction ends, or null. */
export async function lockWorkload(tx: Transaction, id: string): Promise<Workload | null> {
  const row = await tx
    .selectFrom('workloads')
    .select(columns)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row ? toWorkload(row) : null;
}
