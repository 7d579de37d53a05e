import { defineJob } from '../jobs/define-job.ts';
import { KEPT_MS } from './missed-changes.ts';

/** Deletes what no stream goes on from any more. */
export const forgetChangesJob = defineJob({
  name: 'platform.forget-changes',
  schedule: '53 * * * *',
  run: async ({ db, clock }) => {
    const before = new Date(clock.now().getTime() - KEPT_MS);
    await db.deleteFrom('recent_changes').where('at', '<', before).execute();
  },
});
