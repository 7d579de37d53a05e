import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { Driver } from '../drivers/driver.ts';
import {
  listUnneededFiles,
  lockUnneededFiles,
  type RetentionStart,
  recordFilesRemoved,
} from './file-queries.ts';

/**
 * How long files are kept for a resume (runs) or for diagnosis (model servers, whose log is stored
 * elsewhere). The files of a completed workload are deleted immediately, because its module owns copies of
 * the results. So are the files and logs of deleted users.
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
      // Mark the files as deleted first. Then the workload cannot be resumed, and no lock is held during a
      // slow deletion. If the deletion fails, the next sweep repeats it.
      if (await releaseFiles(db, id, { keptSince, now })) await driver.remove(id);
    } catch (error) {
      log.error({ err: error, workload_id: id }, 'failed to delete files of a workload');
    }
  }
}

/** Marks the files as deleted. Returns false if the owner has resumed the workload in the meantime. */
function releaseFiles(
  db: Database,
  id: string,
  { keptSince, now }: { keptSince: RetentionStart; now: Date },
): Promise<boolean> {
  return inTransaction(db, async (tx) => {
    if (!(await lockUnneededFiles(tx, id, keptSince))) return false;
    await recordFilesRemoved(tx, id, now);
    return true;
  });
}
