import type { Clock } from '../../platform/clock.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { type DeploymentRow, noteAsleep } from './queries.ts';
import { reconcileModelServer } from './servers/reconcile-model-server.ts';

/**
 * Puts a deployment with counted time to sleep; its next request wakes it. A step under the row's lock; call
 * `settleStopped` after the commit.
 */
export async function sleepDeployment(
  tx: Transaction,
  clock: Clock,
  deployment: DeploymentRow,
): Promise<void> {
  await noteAsleep(
    tx,
    deployment.id,
    'Asleep: nobody asked it anything for a while. The next request wakes it.',
  );
  await publishChange(tx, deployment.user_id, { topic: 'deployment', id: deployment.id });
  await reconcileModelServer(tx, clock, deployment.model_server_id);
}
