import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { Driver } from '../drivers/driver.ts';
import { type KeptSince, listUnneededFiles, lockUnneededFiles, noteFilesRemoved } from './file-queries.ts';

/**
 * Files and artefacts of a completed workload are deleted at once: those that its result names belong to its module
 * by then. So are those of a deleted user, with their logs. Those of other runs are kept for a resume. A model server
 * is never resumed, and its log is stored: its folder is kept for a day to diagnose errors.
 */
const RUNS_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const DEPLOYMENTS_KEPT_MS = 24 * 60 * 60 * 1000;
const AT_ONCE = 10;

type Parts = { db: Database; driver: Driver; machineId: string; log: Logger };

/** Deletes files of a few workloads of a machine that are no longer needed. */
export async function removeFiles({ db, driver, machineId, log }: Parts, now: Date): Promise<void> {
  const keptSince = {
    run: new Date(now.getTime() - RUNS_KEPT_MS),
    deployment: new Date(now.getTime() - DEPLOYMENTS_KEPT_MS),
  };
  for (const id of await listUnneededFiles(db, machineId, keptSince, AT_ONCE)) {
    try {
      // Marked as deleted first, so that it is not resumed meanwhile and no lock is held while a slow disk deletes.
      // The next sweep deletes what is left.
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
