import { defineJob } from '../../../platform/jobs/define-job.ts';
import { giveUpCheckpoints } from './checkpoint-queries.ts';

/** As long as an unfinished run can be resumed. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Deletes checkpoint LoRAs once a day; models made from them stay. */
export const forgetCheckpointsJob = defineJob({
  name: 'training.forget-checkpoints',
  schedule: '47 3 * * *',
  run: ({ db, clock }) => giveUpCheckpoints(db, new Date(clock.now().getTime() - KEPT_MS)),
});
