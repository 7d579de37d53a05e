import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { Driver } from '../drivers/driver.ts';
import { listUnneededFiles, lockUnneededFiles, noteFilesRemoved } from './file-queries.ts';

/**
 * Files and artefacts of a completed workload go at once: what its result names belongs to its
 * module by then. Those of another run stay for whoever resumes it; a model server is never resumed, and what it
 * printed is in its log: its folder stays a day for who looks into what went wrong.
 */
const RUNS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const DEPLOYMENTS_KEPT_MS = 24 * 60 * 60 * 1000;
const AT_ONCE = 10;

type Parts = {
  db: Database;
  driver: Driver;
  log: Logger;
  /** Workloads whose files could not be deleted, which are passed over; those of this time are added. */
  stuck: Set<string>;
};

/**
 * Deletes the files of a few workloads of these machines that nobody needs any more. The first one is
 * the driver's, the others are gone: one that comes back deletes what it has itself (sweep-files.ts).
 */
export async function removeFiles(
  { db, driver, log, stuck }: Parts,
  machineIds: string[],
  now: Date,
): Promise<void> {
  const keptSince = {
    run: new Date(now.getTime() - RUNS_KEPT_MS),
    deployment: new Date(now.getTime() - DEPLOYMENTS_KEPT_MS),
  };
  const unneeded = await listUnneededFiles(db, machineIds, keptSince, AT_ONCE + stuck.size);
  for (const id of unneeded.filter((one) => !stuck.has(one)).slice(0, AT_ONCE)) {
    await inTransaction(db, async (tx) => {
      if (!(await lockUnneededFiles(tx, id, keptSince))) return;
      // Under the lock: who wants to resume it meanwhile waits, and hears that they are gone.
      await driver.remove(id);
      await noteFilesRemoved(tx, id, now);
    }).catch((error: unknown) => {
      stuck.add(id);
      log.error({ err: error, workload_id: id }, 'files of a workload could not be deleted');
    });
  }
}
