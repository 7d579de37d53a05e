import pg from 'pg';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { keepDays } from '../usage/usage-queries.ts';

const KEPT_DAYS = 90;
const LOCK_NOT_AVAILABLE = '55P03';

/** Single answers can be looked up for a while; their windows, with the digest, stay. */
export const keepUsageDaysJob = defineJob({
  name: 'credits.keep-usage-days',
  schedule: '23 3 * * *',
  run: async ({ db, log }) => {
    try {
      await keepDays(db, KEPT_DAYS);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      log.warn({ err: error }, 'old days of usage are in use; they are dropped another night');
    }
  },
});
