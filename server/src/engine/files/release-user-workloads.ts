import { sql } from 'kysely';
import type { Transaction } from '../../platform/db/database.ts';
import { wakeEngines } from '../queries.ts';

/**
 * Transaction step: marks the workloads of a deleted user, so that none is resumed. Logs are deleted with the
 * files once the workloads have ended, or immediately if the files are already gone.
 */
export async function releaseUserWorkloads(tx: Transaction, userId: string): Promise<void> {
  const { rows } = await sql<{ id: string; files_removed_at: Date | null }>`
    update workloads set owner_gone = true where user_id = ${userId} and not owner_gone
    returning id, files_removed_at`.execute(tx);
  if (rows.length === 0) return;
  const withoutFiles = rows.filter((row) => row.files_removed_at !== null).map(({ id }) => id);
  await sql`delete from workload_logs where workload_id = any(${withoutFiles}::uuid[])`.execute(tx);
  await wakeEngines(tx);
}
