import { defineJob } from '../../../platform/jobs/define-job.ts';
import { deleteUnusedPicturesBefore } from '../sources/picture-queries.ts';

const KEPT_HOURS = 24;

/** Deletes uploaded pictures that were not edited within a day; generations store their own reference. */
export const deleteUnusedPicturesJob = defineJob({
  name: 'images.forget-pictures',
  schedule: '41 * * * *',
  run: ({ db, clock }) =>
    deleteUnusedPicturesBefore(db, new Date(clock.now().getTime() - KEPT_HOURS * 3_600_000)),
});
