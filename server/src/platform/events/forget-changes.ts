import { sql } from 'kysely';
import { defineJob } from '../jobs/define-job.ts';
import { KEPT_MS } from './missed-changes.ts';

/** Deletes what no stream goes on from any more. */
export const forgetChangesJob = defineJob({
  name: 'platform.forget-changes',
  schedule: '53 * * * *',
  run: async ({ db, clock }) => {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    // An announcement takes many rows in this order; one that it has is none of the old any more.
    await sql`
      delete from recent_changes where (user_id, topic, thing_id) in (
        select user_id, topic, thing_id from recent_changes where at < ${before}
        order by user_id, topic, thing_id for update skip locked
      )`.execute(db);
  },
});
