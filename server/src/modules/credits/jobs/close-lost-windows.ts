import type { Services } from '../../../platform/context.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { closeWindowRow, listLostWindows } from '../usage/usage-queries.ts';

const BATCH = 200;

/** Closes the usage windows of processes that lead no more: charges what they had written, and gives the rest back. */
export const closeLostWindowsJob = defineJob({
  name: 'credits.close-lost-windows',
  schedule: '* * * * *',
  run: async (services) => {
    for (;;) {
      const lost = await listLostWindows(services.db, BATCH);
      let closed = 0;
      for (const windowId of lost) {
        // One that cannot be closed must not keep the others from it.
        await closeLost(services, windowId).then(
          () => (closed += 1),
          (error: unknown) =>
            services.log.error(
              { err: error, window_id: windowId },
              'a lost usage window could not be closed',
            ),
        );
      }
      if (lost.length < BATCH || closed === 0) return;
    }
  },
});

async function closeLost(services: Services, windowId: string): Promise<void> {
  const asked = { windowId, leaderId: null, at: services.clock.now() };
  const { outcome, user_id: userId } = await closeWindowRow(services, asked);
  services.log.warn({ window_id: windowId, outcome }, 'closed a usage window whose process is gone');
  services.events.announce(userId, { topic: 'balance', id: userId });
}
