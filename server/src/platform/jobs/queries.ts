import { sql } from 'kysely';
import type { Database } from '../db/database.ts';

/** An attempt of a job has failed. */
export async function countFailure(db: Database, job: string): Promise<void> {
  await sql`
    insert into job_outcomes (job, failed) values (${job}, 1)
    on conflict (job) do update set failed = job_outcomes.failed + 1`.execute(db);
}

/** A job has just done its work. */
export async function noteSuccess(db: Database, job: string): Promise<void> {
  await sql`
    insert into job_outcomes (job, succeeded_at) values (${job}, clock_timestamp())
    on conflict (job) do update set succeeded_at = excluded.succeeded_at`.execute(db);
}

/** How the attempts of each kind of job have ended. */
export async function listOutcomes(db: Database) {
  return db.selectFrom('job_outcomes').select(['job', 'failed', 'succeeded_at']).execute();
}
