import type { Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { findWorkload } from '../../engine/queries.ts';
import { endDeployment } from './end-deployment.ts';
import { countTime, holdPeriod, settleTime } from './meter-deployment.ts';
import { listAwakeDeployments, listIdleStarterServers, lockDeployment } from './queries.ts';
import { carries, reconcileTextServer } from './reconcile-text-server.ts';
import { sleepDeployment } from './sleep-deployment.ts';

/**
 * The minute's work: counts the time of every deployment that answers, settles full hours, ends
 * those whose owner's credit has ended, and puts idle ones to sleep.
 */
export async function meterDeployments(services: Services): Promise<void> {
  const { db, clock, config } = services;
  for (const { id } of await listAwakeDeployments(db)) await meterOne(services, id);

  if (config.idleMinutes === 0) return;
  const before = new Date(clock.now().getTime() - config.idleMinutes * 60_000);
  for (const { id } of await listIdleStarterServers(db, before)) {
    await db.transaction().execute(async (tx) => {
      await tx
        .updateTable('text_servers')
        .set({ starter_requested_at: null })
        .where('id', '=', id)
        .where('starter_requested_at', '<', before)
        .execute();
      await reconcileTextServer(tx, clock, id);
    });
  }
}

async function meterOne({ db, clock, config }: Services, podId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (deployment.terminated_at || deployment.sleeping) return;
    const now = clock.now();
    const carrier = deployment.carrier_id ? await findWorkload(tx, deployment.carrier_id) : null;
    const answers = carrier !== null && carrier.endedAt === null && carries(carrier, deployment);

    if (!answers) {
      // Nothing is charged while nothing answers; the meter goes on with the next carrier.
      await tx.updateTable('deployments').set({ metered_at: null }).where('id', '=', podId).execute();
      return;
    }
    const idleSince = deployment.last_request_at ?? deployment.ready_at ?? deployment.created_at;
    if (config.idleMinutes > 0 && now.getTime() - idleSince.getTime() > config.idleMinutes * 60_000) {
      await sleepDeployment(tx, clock, deployment);
      return;
    }
    const full = await countTime(tx, now, deployment);
    if (!full) return;

    await settleTime(tx, now, await lockDeployment(tx, podId));
    const settled = await lockDeployment(tx, podId);
    try {
      await holdPeriod(tx, now, settled);
      await tx.updateTable('deployments').set({ metered_at: now }).where('id', '=', podId).execute();
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'insufficient_funds')) throw error;
      await endDeployment(tx, now, settled, { failed: false, reason: `Your credit has ended. ${error.publicMessage}` });
      await reconcileTextServer(tx, clock, settled.text_server_id);
    }
  });
}
