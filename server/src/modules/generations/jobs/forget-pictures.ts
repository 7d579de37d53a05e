import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteUnusedPicturesBefore } from '../sources/picture-queries.ts';

const KEPT_HOURS = 24;

/** Uploaded pictures that nobody has edited go after a day; a generation has its own. */
export const forgetPicturesJob = defineJob({
  name: 'images.forget-pictures',
  schedule: '41 * * * *',
  run: ({ db, clock }) =>
    deleteUnusedPicturesBefore(db, new Date(clock.now().getTime() - KEPT_HOURS * 3_600_000)),
});
