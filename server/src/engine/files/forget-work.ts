import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { wakeEngines } from '../queries.ts';

/**
 * Step: the user is deleted, and none of their workloads is resumed. Logs go with the files once the workloads have
 * ended, and at once where the files are gone already.
 */
export async function forgetWork(tx: Transaction, userId: string): Promise<void> {
  const { rows } = await sql<{ id: string; files_removed_at: Date | null }>`
    update workloads set owner_gone = true where user_id = ${userId} and not owner_gone
    returning id, files_removed_at`.execute(tx);
  if (rows.length === 0) return;
  const withoutFiles = rows.filter((row) => row.files_removed_at !== null).map(({ id }) => id);
  await sql`delete from workload_logs where workload_id = any(${withoutFiles}::uuid[])`.execute(tx);
  await wakeEngines(tx);
}
