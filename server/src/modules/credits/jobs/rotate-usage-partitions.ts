import pg from 'pg';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { sqlStates } from '../../../platform/postgres/sql-states.ts';
import { rotatePartitions } from '../usage/usage-queries.ts';

const KEPT_DAYS = 90;

/** Creates the next daily partition of usage events and drops old ones, but not the windows' sums. */
export const rotateUsagePartitionsJob = defineJob({
  name: 'credits.rotate-usage-partitions',
  schedule: '23 3 * * *',
  run: async ({ db, log }) => {
    try {
      await rotatePartitions(db, KEPT_DAYS);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== sqlStates.lockNotAvailable) throw error;
      log.warn({ err: error }, 'old usage partitions are in use; will retry the drop tomorrow');
    }
  },
});
