import type { Database, Transaction } from '../../../platform/db/database.ts';
import { deleteJobsOf, type JobRow, selectJobsOf } from './job-queries.ts';

/** Step: deletes the job data of a deleted user. */
export async function forgetJobs(tx: Transaction, userId: string): Promise<void> {
  await deleteJobsOf(tx, userId);
}

/** Returns a user's job data for the data export. */
export async function listJobRecords(db: Database, userId: string): Promise<JobRow[]> {
  return selectJobsOf(db, userId);
}
