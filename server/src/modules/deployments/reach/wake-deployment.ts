import type { Services } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { ReadCapacity } from '../../serving/served-model.ts';
import { extendOpenHold, holdPeriod, settleTime } from '../metering/meter-deployment.ts';
import { lockDeployment, recordAwake } from '../queries.ts';
import { assertServerLimit } from '../servers/limits/server-limits.ts';
import { reconcileModelServer } from '../servers/reconcile-model-server.ts';

/**
 * Wakes a sleeping deployment. It is charged from the time when it is ready. Throws AppError
 * 'insufficient_funds'.
 */
export async function wakeDeployment(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  parts: ReadCapacity,
  podId: string,
): Promise<void> {
  const capacity = await parts.capacity();
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    if (!deployment.sleeping || deployment.terminated_at) return;
    await assertServerLimit(tx, {
      userId: deployment.user_id,
      serverId: deployment.model_server_id,
      baseAssetId: deployment.base_asset_id,
      replicas: deployment.replicas,
      capacity,
    });
    await recordAwake(tx, podId, clock.now());
    await reconcileModelServer(tx, clock, deployment.model_server_id);
    await publishChange(tx, deployment.user_id, { topic: 'deployment', id: podId });
    // If it has just fallen asleep, its hold may still be open.
    if (await extendOpenHold(tx, clock.now(), deployment)) return;
    // Charge earlier time first, so that the next hold does not have to cover it.
    await settleTime(tx, clock.now(), deployment);
    await holdPeriod(tx, clock.now(), await lockDeployment(tx, podId));
  });
}
