import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import type { Driver } from '../drivers/driver.ts';
import { listRemovable } from '../queries.ts';
import { findWorkload } from '../workloads.ts';

type Parts = { db: Database; driver: Driver; machineId: string; log: Logger };

/**
 * Deletes the files and processes of workloads that moved to another machine, or whose files are marked as
 * deleted. A failed deletion is retried by the next call. Runs within a pass of the engine; passes are
 * sequential, so no such workload can start here at the same time.
 */
export async function sweepFiles({ db, driver, machineId, log }: Parts): Promise<void> {
  const there = (await driver.list()).filter(isUuid);
  if (there.length === 0) return;
  for (const id of await listRemovable(db, there, machineId)) {
    try {
      const workload = await findWorkload(db, id);
      // The workload may have returned to this machine in the meantime.
      if (workload && (workload.machineId !== machineId || workload.filesRemovedAt)) await driver.remove(id);
    } catch (error) {
      log.error({ err: error, workload_id: id }, 'failed to delete files of a workload');
    }
  }
}
