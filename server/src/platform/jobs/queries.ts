import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** Records a failed attempt of a job. */
export async function countFailure(db: Database, job: string): Promise<void> {
  await sql`
    insert into job_outcomes (job, failed) values (${job}, 1)
    on conflict (job) do update set failed = job_outcomes.failed + 1`.execute(db);
}

/** Records a success of a job. */
export async function noteSuccess(db: Database, job: string): Promise<void> {
  await sql`
    insert into job_outcomes (job, succeeded_at) values (${job}, clock_timestamp())
    on conflict (job) do update set succeeded_at = excluded.succeeded_at`.execute(db);
}

/** Returns the outcomes of each kind of job. */
export async function listOutcomes(db: Database) {
  return db.selectFrom('job_outcomes').select(['job', 'failed', 'succeeded_at']).execute();
}
