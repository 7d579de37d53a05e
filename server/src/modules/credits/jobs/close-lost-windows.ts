import { defineJob } from '../../../platform/jobs/define-job.ts';
import { closeWindowRow, listLostWindows } from '../usage/usage-queries.ts';

const BATCH = 200;

/** Closes the usage windows of processes that lead no more: charges what they had written, and gives the rest back. */
export const closeLostWindowsJob = defineJob({
  name: 'credits.close-lost-windows',
  schedule: '* * * * *',
  run: async (services) => {
    const { db, log, clock, events } = services;
    for (;;) {
      const lost = await listLostWindows(db, BATCH);
      for (const windowId of lost) {
        const asked = { windowId, leaderId: null, at: clock.now() };
        const { outcome, user_id: userId } = await closeWindowRow(services, asked);
        log.warn({ window_id: windowId, outcome }, 'closed a usage window whose process is gone');
        events.announce(userId, { topic: 'balance', id: userId });
      }
      if (lost.length < BATCH) return;
    }
  },
});
