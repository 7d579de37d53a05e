import type { Services } from '../../context.ts';
import { defineJob } from '../../jobs/define-job.ts';
import { deleteUntouched, selectKnownKeys } from './queries.ts';

const UNTOUCHED_MS = 7 * 24 * 60 * 60 * 1000;

/** Ends uploads that nobody has touched for a week, and deletes the parts of all that have ended: hourly. */
export const sweepUploadsJob = defineJob({
  name: 'platform.sweep-uploads',
  schedule: '37 * * * *',
  run: async ({ blobs, clock, db }: Pick<Services, 'blobs' | 'clock' | 'db'>) => {
    await deleteUntouched(db, new Date(clock.now().getTime() - UNTOUCHED_MS));
    // Parts are there only after the upload that has their key.
    const keys = await blobs.parts.list();
    const known = await selectKnownKeys(db, keys);
    for (const key of keys) if (!known.has(key)) await blobs.parts.abandon(key);
  },
});
