import { defineJob } from '../../../platform/jobs/define-job.ts';
import { giveUpCheckpoints } from './checkpoint-queries.ts';

/** As long as a run that has not come to its end can be resumed. */
const KEPT_MS = 7 * 24 * 60 * 60 * 1000;

/** Gives up the LoRAs of checkpoints once a day; the models that were made of them stay. */
export const forgetCheckpointsJob = defineJob({
  name: 'training.forget-checkpoints',
  schedule: '47 3 * * *',
  run: ({ db, clock }) => giveUpCheckpoints(db, new Date(clock.now().getTime() - KEPT_MS)),
});
