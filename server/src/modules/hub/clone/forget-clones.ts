import { DAY_MS } from '../../../platform/clock.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { discardFiles } from './discard-files.ts';
import { lockClone, selectEndedWithFiles } from './queries.ts';

/** A failed clone's copied files can be retried for as long as a broken upload is stored. */
const FILES_KEPT_MS = 7 * DAY_MS;
/** Retention of the clone and its log; the asset records its own origin. */
const KEPT_MS = 30 * DAY_MS;
const BATCH = 100;

/** Deletes old clones, and earlier the files they had copied and listed; runs every night. */
export const forgetClonesJob = defineJob({
  name: 'hub.forget-clones',
  schedule: '23 2 * * *',
  run: async (services: Pick<Services, 'blobs' | 'clock' | 'db'>) => {
    const now = services.clock.now().getTime();
    await forgetFiles(services, new Date(now - FILES_KEPT_MS));
    const time = new Date(now - KEPT_MS);
    await deleteBefore(services.db, 'hub_clones', { column: 'ended_at', time });
  },
});

async function forgetFiles({ blobs, db }: Pick<Services, 'blobs' | 'db'>, before: Date): Promise<void> {
  for (;;) {
    const ended = await selectEndedWithFiles(db, before, BATCH);
    for (const own of ended) {
      const storeKeys = await inTransaction(db, async (tx) => {
        const clone = await lockClone(tx, own);
        // It may have been retried since it was listed.
        const isDue = clone?.ended_at != null && clone.ended_at < before;
        return isDue ? discardFiles(tx, own) : [];
      });
      for (const storeKey of storeKeys) await blobs.parts.abandon(storeKey);
    }
    if (ended.length < BATCH) return;
  }
}
