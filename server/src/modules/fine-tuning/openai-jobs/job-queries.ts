import type { JobIntegration } from '@bakehouse/contract/fine-tuning-jobs';
import type { AnswerFormat, Grader } from '@bakehouse/contract/graders';
import { type Database, type Transaction, toJson } from '../../../platform/db/database.ts';

/** The data of a job that its run does not have. */
export type JobRow = {
  runId: string;
  suffix: string | null;
  metadata: Record<string, string> | null;
  integrations: JobIntegration[];
  /** The requested grader; null for other methods. */
  reinforcement: { grader: Grader; response_format: AnswerFormat | null } | null;
};

const columns = ['run_id as runId', 'suffix', 'metadata', 'integrations', 'reinforcement'] as const;

export async function insertJob(
  tx: Transaction,
  { runId, userId, suffix, metadata, integrations, reinforcement }: JobRow & { userId: string },
): Promise<void> {
  await tx
    .insertInto('fine_tuning_jobs')
    .values({
      ...{ run_id: runId, user_id: userId, suffix, metadata: metadata && toJson(metadata) },
      integrations: toJson(integrations),
      reinforcement: reinforcement && toJson(reinforcement),
    })
    .execute();
}

/** Returns the job data by run id. Runs that were not started as jobs are missing. */
export async function selectJobs(db: Database | Transaction, runIds: string[]): Promise<Map<string, JobRow>> {
  const rows = await db
    .selectFrom('fine_tuning_jobs')
    .select(columns)
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
    .select(columns)
    .where('user_id', '=', userId)
    .orderBy('run_id')
    .execute();
  return rows as JobRow[];
}
