import type { Services } from '../../context.ts';
import { defineJob } from '../../jobs/define-job.ts';
import { deleteUntouched, selectKnownKeys } from './queries.ts';

const UNTOUCHED_MS = 7 * 24 * 60 * 60 * 1000;

/** Hourly: ends uploads without activity for a week, and deletes the parts of all ended uploads. */
export const sweepUploadsJob = defineJob({
  name: 'platform.sweep-uploads',
  schedule: '37 * * * *',
  run: async ({ blobs, clock, db }: Pick<Services, 'blobs' | 'clock' | 'db'>) => {
    await deleteUntouched(db, new Date(clock.now().getTime() - UNTOUCHED_MS));
    // List parts first, because an upload is created before its parts.
    const keys = await blobs.parts.list();
    const known = await selectKnownKeys(db, keys);
    for (const key of keys) if (!known.has(key)) await blobs.parts.abandon(key);
  },
});
