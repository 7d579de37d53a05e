import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { Driver } from '../drivers/driver.ts';
import { type KeptSince, listUnneededFiles, lockUnneededFiles, noteFilesRemoved } from './file-queries.ts';

/**
 * Files and artefacts of a completed workload go at once: what its result names belongs to its module by then. So do those
 * of one whose owner is gone, and what it has printed. Those of another run stay for whoever resumes it; a model server is
 * never resumed, and what it printed is in its log: its folder stays a day for who looks into what went wrong.
 */
const RUNS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const DEPLOYMENTS_KEPT_MS = 24 * 60 * 60 * 1000;
const AT_ONCE = 10;

type Parts = { db: Database; driver: Driver; log: Logger };

/**
 * Deletes the files of a few workloads of these machines that nobody needs any more. The first one is
 * the driver's, the others are gone: one that comes back deletes what it has itself (sweep-files.ts).
 */
export async function removeFiles(
  { db, driver, log }: Parts,
  machineIds: string[],
  now: Date,
): Promise<void> {
  const keptSince = {
    run: new Date(now.getTime() - RUNS_KEPT_MS),
    deployment: new Date(now.getTime() - DEPLOYMENTS_KEPT_MS),
  };
  for (const id of await listUnneededFiles(db, machineIds, keptSince, AT_ONCE)) {
    try {
      // Given up before anything is deleted: from then on nobody resumes it, and no lock is held while a slow disk
      // takes its time. What is left of it, the next sweep deletes.
      if (await giveUp(db, id, { keptSince, now })) await driver.remove(id);
    } catch (error) {
      log.error({ err: error, workload_id: id }, 'files of a workload could not be deleted');
    }
  }
}

/** False where its owner has resumed it since. */
function giveUp(
  db: Database,
  id: string,
  { keptSince, now }: { keptSince: KeptSince; now: Date },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await lockUnneededFiles(tx, id, keptSince))) return false;
    await noteFilesRemoved(tx, id, now);
    return true;
  });
}
