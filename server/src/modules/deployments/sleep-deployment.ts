import type { Clock } from '../../platform/clock.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { settleTime } from './meter-deployment.ts';
import type { DeploymentRow } from './queries.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';

/** Settles the time so far and lets the deployment sleep; its next request wakes it. A step under the row's lock. */
export async function sleepDeployment(tx: Transaction, clock: Clock, deployment: DeploymentRow): Promise<void> {
  await settleTime(tx, clock.now(), deployment);
  await tx
    .updateTable('deployments')
    .set({ sleeping: true, reason: 'Asleep: nobody asked it anything for a while. The next request wakes it.' })
    .where('id', '=', deployment.id)
    .execute();
  await reconcileTextServer(tx, clock, deployment.text_server_id);
}
