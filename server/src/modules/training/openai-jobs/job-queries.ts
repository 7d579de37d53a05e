import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';

/** What a job keeps beside its run. */
export type JobRow = { runId: string; suffix: string | null; metadata: Record<string, string> | null };

export async function insertJob(
  tx: Transaction,
  { runId, userId, suffix, metadata }: JobRow & { userId: string },
): Promise<void> {
  await tx
    .insertInto('fine_tuning_jobs')
    .values({ run_id: runId, user_id: userId, suffix, metadata: metadata && toJson(metadata) })
    .execute();
}

/** Of these runs those that began as jobs. */
export async function selectJobs(db: Database | Transaction, runIds: string[]): Promise<Map<string, JobRow>> {
  const rows = await db
    .selectFrom('fine_tuning_jobs')
    .select(['run_id as runId', 'suffix', 'metadata'])
    .where('run_id', 'in', runIds)
    .execute();
  return new Map(rows.map((row) => [row.runId, row as JobRow]));
}

export async function deleteJobsOf(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('fine_tuning_jobs').where('user_id', '=', userId).execute();
}

export async function selectJobsOf(db: Database, userId: string): Promise<JobRow[]> {
  const rows = await db
    .selectFrom('fine_tuning_jobs')
    .select(['run_id as runId', 'suffix', 'metadata'])
    .where('user_id', '=', userId)
    .orderBy('run_id')
    .execute();
  return rows as JobRow[];
}
