import type { Database, Transaction } from '../../../platform/db/database.ts';
import { deleteJobsOf, type JobRow, selectJobsOf } from './job-queries.ts';

/** Step: deletes what the jobs of a deleted user keep beside their runs. */
export async function forgetJobs(tx: Transaction, userId: string): Promise<void> {
  await deleteJobsOf(tx, userId);
}

/** The same, for the export of a user's data. */
export async function listJobRecords(db: Database, userId: string): Promise<JobRow[]> {
  return selectJobsOf(db, userId);
}
