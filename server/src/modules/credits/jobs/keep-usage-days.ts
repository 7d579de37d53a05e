import { defineJob } from '../../../platform/jobs/define-job.ts';
import { keepDays } from '../usage/usage-queries.ts';

const KEPT_DAYS = 90;

/** Single answers can be looked up for a while; their windows, with the digest, stay. */
export const keepUsageDaysJob = defineJob({
  name: 'credits.keep-usage-days',
  schedule: '23 3 * * *',
  run: ({ db }) => keepDays(db, KEPT_DAYS),
});
