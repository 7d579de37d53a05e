import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import { notify } from '../notifications/notify.ts';
import { countTime } from './metering/meter-deployment.ts';
import { settleStopped } from './metering/settle-stopped.ts';
import { lockDeployment, noteEnd } from './queries.ts';
import { reconcileModelServer } from './servers/reconcile-model-server.ts';

type End = {
  reason: string;
  /** The user who requested it; null for the server itself. */
  endedBy: string | null;
  /** Set if it ends for lack of credit or budget; its owner is notified then. */
  stopReason?: Deployment['stop_reason'];
};

/**
 * Terminates a deployment and settles its bill, for the time it was serving. Does nothing if it has ended.
 */
export async function endDeployment(
  services: Pick<Services, 'db' | 'clock'>,
  podId: string,
  { reason, endedBy, stopReason = null }: End,
): Promise<void> {
  const { db, clock } = services;
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (deployment.terminated_at) return;
    const now = clock.now();
    await countTime(tx, now, deployment);
    await noteEnd(tx, podId, { now, failed: false, reason, stopReason });
    const detail = { pod_id: podId, model_id: deployment.asset_id, reason };
    await recordAudit(tx, { userId: endedBy, action: 'deployment.ended', detail });
    if (stopReason) {
      const { user_id: userId, title } = deployment;
      const data = { pod_id: podId, title, stop_reason: stopReason };
      await notify(tx, { userId, kind: 'deployment_stopped', data });
    }
    await publishChange(tx, deployment.user_id, { topic: 'deployment', id: podId });
    await reconcileModelServer(tx, clock, deployment.model_server_id);
  });
  await settleStopped(services, podId);
}
