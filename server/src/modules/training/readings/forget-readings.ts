import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { readingLimits } from './limits.ts';

/** Deletes old reports once a day; a new request reads the file again. */
export const forgetReadingsJob = defineJob({
  name: 'training.forget-readings',
  schedule: '37 3 * * *',
  run: ({ db, clock }) => {
    const time = new Date(clock.now().getTime() - readingLimits.keptMs);
    return deleteBefore(db, 'data_readings', { column: 'ended_at', time });
  },
});
