import { DAY_MS } from '../../../platform/clock.ts';
import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { deleteBefore } from '../../../platform/db/retention/delete-before.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { discardFiles } from './discard-files.ts';
import { lockClone, selectEndedWithFiles } from './queries.ts';

/** What a failed clone has copied is there for Retry as long as an upload that broke. */
const FILES_KEPT_MS = 7 * DAY_MS;
/** The clone and its log; what it has made says itself where it comes from. */
const KEPT_MS = 30 * DAY_MS;
const BATCH = 100;

/** Forgets clones that ended long ago, and before that what they had copied and listed: every night. */
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
        // Retry may have begun it anew since it was listed.
        const isDue = clone?.ended_at != null && clone.ended_at < before;
        return isDue ? discardFiles(tx, own) : [];
      });
      for (const storeKey of storeKeys) await blobs.parts.abandon(storeKey);
    }
    if (ended.length < BATCH) return;
  }
}
