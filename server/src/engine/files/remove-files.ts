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
 * Files and artefacts of a completed workload are deleted immediately, because its module already owns the
 * files of its result; so are the files and logs of deleted users. Other runs keep their files for a resume.
 * A model server is never resumed and its log is stored; its folder is kept for a day for diagnosis.
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
      // Mark it as deleted first: then it cannot be resumed, and no lock is held while a slow disk deletes.
      // The next sweep deletes the rest.
      if (await releaseFiles(db, id, { keptSince, now })) await driver.remove(id);
    } catch (error) {
      log.error({ err: error, workload_id: id }, 'failed to delete files of a workload');
    }
  }
}

/** Returns false if its owner has resumed it since. */
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
