import { findWorkloadWithSpec } from '../../engine/queries.ts';
import type { Services } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import type { AppError } from '../../platform/errors.ts';
import { isOutOfCredit } from '../credits/within-budget.ts';
import { endDeployment } from './end-deployment.ts';
import {
  holdPeriod,
  keepHold,
  PERIOD_MS,
  servedUntil,
  settleTime,
  UNSEEN_MS_MAX,
  usedMs,
} from './meter-deployment.ts';
import {
  type DeploymentRow,
  listAwakeDeployments,
  listIdleStarterServers,
  listTextServersInUse,
  lockDeployment,
  noteTime,
  setStarterRequested,
} from './queries.ts';
import { carries, reconcileTextServer } from './reconcile-text-server.ts';
import { sleepDeployment } from './sleep-deployment.ts';

/**
 * The minute's work: counts the time of every deployment that answers, settles full hours, ends
 * those whose owner's credit has ended, puts idle ones to sleep, and looks after their servers.
 */
export async function meterDeployments(services: Services): Promise<void> {
  const { db, clock, config, log } = services;
  for (const { id } of await listAwakeDeployments(db)) {
    // One that cannot be metered must not keep the others from it.
    await meterOne(services, id).catch((error: unknown) =>
      log.error({ err: error, pod_id: id }, 'a deployment could not be metered'),
    );
  }
  // A change that was not acted on, because its job failed, is made good here.
  for (const { id } of await listTextServersInUse(db)) {
    await inTransaction(db, (tx) => reconcileTextServer(tx, clock, id)).catch((error: unknown) =>
      log.error({ err: error, text_server_id: id }, 'a text server could not be reconciled'),
    );
  }
  if (config.idleMinutes === 0) return;
  const before = new Date(clock.now().getTime() - config.idleMinutes * 60_000);
  for (const { id } of await listIdleStarterServers(db, before)) {
    await inTransaction(db, async (tx) => {
      await setStarterRequested(tx, id, null);
      await reconcileTextServer(tx, clock, id);
    });
  }
}

async function meterOne(services: Services, podId: string): Promise<void> {
  const { db, clock, config } = services;
  const outOfCredit = await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (deployment.terminated_at || deployment.sleeping) return null;
    const now = clock.now();
    const carrier = deployment.carrier_id ? await findWorkloadWithSpec(tx, deployment.carrier_id) : null;
    const up = carrier?.state === 'ready' || carrier?.state === 'degraded';
    const answers = up && carries(carrier, deployment);

    if (answers && isIdle(deployment, now, config.idleMinutes)) {
      await sleepDeployment(tx, clock, deployment);
      return null;
    }
    // Nothing is charged while nothing answers; the hold waits with the deployment.
    const unsettledMs = usedMs(deployment, await servedUntil(tx, now, deployment));
    await noteTime(tx, podId, { unsettledMs, meteredAt: answers ? now : null });
    const held = await keepHold(tx, now, deployment);
    const full = unsettledMs + BigInt(UNSEEN_MS_MAX) >= BigInt(PERIOD_MS);
    if (held && !full) return null;

    await settleTime(tx, now, await lockDeployment(tx, podId));
    try {
      await holdPeriod(tx, now, await lockDeployment(tx, podId));
      await noteTime(tx, podId, { unsettledMs: 0n, meteredAt: answers ? now : null });
      return null;
    } catch (error) {
      if (isOutOfCredit(error)) return whyItEnds(error);
      throw error;
    }
  });
  if (outOfCredit) await endDeployment(services, podId, outOfCredit);
}

/** A budget names its key; what is missing does not say that it ended a deployment. */
function whyItEnds({ code, publicMessage }: AppError): string {
  return code === 'budget_exceeded' ? publicMessage : `Your credit has ended. ${publicMessage}`;
}

function isIdle(deployment: DeploymentRow, now: Date, idleMinutes: number): boolean {
  const since = deployment.last_request_at ?? deployment.ready_at ?? deployment.created_at;
  return idleMinutes > 0 && now.getTime() - since.getTime() > idleMinutes * 60_000;
}
