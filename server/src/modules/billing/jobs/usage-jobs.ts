import pg from 'pg';
import type { Services } from '../../../platform/context.ts';
import { announceChange } from '../../../platform/events/publish-change.ts';
import { defineJob } from '../../../platform/jobs/define-job.ts';
import { sqlStates } from '../../../platform/postgres/sql-states.ts';
import { listLostWindows, rotatePartitions } from '../usage/usage-queries.ts';
import { closeWindow } from '../usage/usage-window.ts';

const BATCH = 200;

/**
 * Closes usage windows whose leader's lease has expired. Charges the written usage and releases the rest of
 * the hold.
 */
export const closeLostWindowsJob = defineJob({
  name: 'credits.close-lost-windows',
  schedule: '* * * * *',
  run: async (services) => {
    let after: string | null = null;
    for (;;) {
      const lost = await listLostWindows(services.db, after, BATCH);
      // If one window fails, still close the others, because their usage is lost when their holds expire.
      for (const windowId of lost) {
        await closeLost(services, windowId).catch((error: unknown) =>
          services.log.error({ err: error, window_id: windowId }, 'failed to close lost usage window'),
        );
      }
      after = lost.at(-1) ?? null;
      if (lost.length < BATCH) return;
    }
  },
});

const KEPT_DAYS = 90;

/** Creates the next daily partition of usage events and drops old partitions. The windows keep their sums. */
export const rotateUsagePartitionsJob = defineJob({
  name: 'credits.rotate-usage-partitions',
  schedule: '23 3 * * *',
  run: async ({ db, log }) => {
    try {
      await rotatePartitions(db, KEPT_DAYS);
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== sqlStates.lockNotAvailable) throw error;
      log.warn({ err: error }, 'old usage partitions are in use; will retry the drop tomorrow');
    }
  },
});

async function closeLost(services: Services, windowId: string): Promise<void> {
  const { log, db } = services;
  const { outcome, user_id: userId } = await closeWindow(services, { windowId, leaderId: null });
  // The window's process was only slow: it has renewed its lease since.
  if (outcome === 'led') return;
  log.warn({ window_id: windowId, outcome }, 'closed usage window of a dead process');
  announceChange(db, userId, { topic: 'balance', id: userId });
}
