import type { Logger } from 'pino';
import type { Database } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { isUuid } from '../../platform/is-uuid.ts';
import type { Driver } from '../drivers/driver.ts';
import { lockWorkload } from '../lock-workload.ts';
import { listRemovable } from '../queries.ts';

type Parts = { db: Database; driver: Driver; machineId: string; log: Logger };

/**
 * Deletes what a machine still has of workloads that were given to another one while it was gone,
 * or whose files were given up, and ends what lives of them. What cannot be deleted is left to the next time.
 */
export async function sweepFiles({ db, driver, machineId, log }: Parts): Promise<void> {
  const there = (await driver.list()).filter(isUuid);
  if (there.length === 0) return;
  for (const id of await listRemovable(db, there, machineId)) {
    await inTransaction(db, async (tx) => {
      const workload = await lockWorkload(tx, id);
      // It may come back to this machine meanwhile.
      if (workload && (workload.machineId !== machineId || workload.filesRemovedAt)) await driver.remove(id);
    }).catch((error: unknown) =>
      log.error({ err: error, workload_id: id }, 'files of a workload could not be deleted'),
    );
  }
}
