import type { Deployment } from '@bakehouse/contract/deployments/text';
import type { Clock } from '../../platform/clock.ts';
import type { Context, Services } from '../../platform/context.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { notFound } from '../../platform/errors.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { recordAudit } from '../accounts/record-audit.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { notify } from '../notifications/notifications.ts';
import type { ReadCapacity } from '../serving/served-model.ts';
import { findDeployment, type OwnDeployment } from './find-deployments.ts';
import { countTime, settleStopped } from './metering/meter-deployment.ts';
import {
  type DeploymentRow,
  lockDeployment,
  recordAsleep,
  selectLivePodIdsOfAsset,
  setDeploymentEnded,
} from './queries.ts';
import { type DeploymentView, readDeployment } from './read-deployment.ts';
import { reconcileModelServer } from './servers/reconcile-model-server.ts';

type End = {
  reason: string;
  /** The user who requested the end; null if the server itself ends the deployment. */
  endedBy: string | null;
  /** Set if the deployment ends because credit or budget is used up. Its owner is then notified. */
  stopReason?: Deployment['stop_reason'];
};

/**
 * Step: puts a deployment to sleep; its next request wakes it. Lock its row and count its time first. Call
 * `settleStopped` after the commit.
 */
export async function sleepDeployment(
  tx: Transaction,
  clock: Clock,
  deployment: DeploymentRow,
): Promise<void> {
  await recordAsleep(tx, deployment.id, 'Asleep: no requests for a while. The next request wakes it.');
  await publishChange(tx, deployment.user_id, { topic: 'deployment', id: deployment.id });
  await reconcileModelServer(tx, clock, deployment.model_server_id);
}

/**
 * Terminates a deployment, and charges the time it has served since the last charge. Does nothing if it has
 * ended already.
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
    await setDeploymentEnded(tx, podId, { now, failed: false, reason, stopReason });
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

/**
 * Terminates all deployments of an asset, of any user, and charges their time. Shows `reason` to their
 * owners.
 */
export async function terminateDeploymentsOf(
  services: Pick<Services, 'db' | 'clock'>,
  { assetId, reason }: { assetId: string; reason: string },
): Promise<void> {
  for (const podId of await selectLivePodIdsOfAsset(services.db, assetId))
    await endDeployment(services, podId, { reason, endedBy: null });
}

/** Terminates a deployment of the caller and charges its time. */
export async function terminateDeployment(
  ctx: Context,
  input: Omit<OwnDeployment, 'userId'>,
): Promise<DeploymentView> {
  const own = { userId: ctx.caller.userId, ...input };
  if (!(await findDeployment(ctx.db, own))) throw notFound('Deployment', 'podId');
  await endDeployment(ctx, input.podId, { reason: 'Terminated by you', endedBy: own.userId });
  await ctx.rowChanges.catchUp();
  return readDeployment(ctx, input);
}

/** Parts of the app that are needed to wake a model. */
export type WakingParts = ReadCapacity & { usage: IdleCredit };
