import type { Capacity } from '../../../engine/model/capacity.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { AppError } from '../../../platform/errors.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import type { ReadCapacity } from '../../serving/served-model.ts';
import { type DeploymentRow, lockDeployment, setReplicas } from '../queries.ts';
import { assertServerLimit } from './limits/server-limits.ts';
import { reconcileModelServer } from './reconcile-model-server.ts';

/**
 * The last replica is dropped after this idle time. It is much longer than the interval at which processes
 * record use.
 */
const IDLE_REPLICA_MS = 10 * 60_000;
/**
 * How long to wait after there was no slot for a replica or it failed to start. Limits the attempts while all
 * slots are taken.
 */
const NO_ROOM_MS = 5 * 60_000;

/**
 * Adds one replica if requests wait although `answering` replicas are serving. Adds none above the requested
 * maximum, if no slot is free, or if an attempt has failed recently.
 */
export async function addReplica(
  { db, clock }: Pick<Services, 'db' | 'clock'>,
  parts: ReadCapacity,
  { podId, answering }: { podId: string; answering: number },
): Promise<void> {
  const capacity = await parts.capacity();
  await inTransaction(db, async (tx) => {
    const deployment = await lockDeployment(tx, podId);
    const { replicas, max_replicas, no_room_at } = deployment;
    const isOver = deployment.terminated_at !== null || deployment.sleeping;
    const hadNoRoom = no_room_at !== null && clock.now().getTime() - no_room_at.getTime() < NO_ROOM_MS;
    if (isOver || hadNoRoom || replicas > answering || replicas >= max_replicas) return;
    if (!(await hasRoom(tx, deployment, capacity))) return;
    await setReplicas(tx, podId, { replicas: replicas + 1, now: clock.now() });
    await reconcileModelServer(tx, clock, deployment.model_server_id);
    await publishChange(tx, deployment.user_id, { topic: 'deployment', id: podId });
  });
}

async function hasRoom(tx: Transaction, deployment: DeploymentRow, capacity: Capacity): Promise<boolean> {
  try {
    await assertServerLimit(tx, {
      userId: deployment.user_id,
      serverId: deployment.model_server_id,
      baseAssetId: deployment.base_asset_id,
      replicas: deployment.replicas + 1,
      capacity,
    });
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'conflict') return false;
    throw error;
  }
}

/** Step: drops the last replica if it has been idle for long enough. */
export async function dropIdleReplica(
  tx: Transaction,
  clock: Clock,
  deployment: DeploymentRow,
): Promise<void> {
  const { id, replicas, min_replicas, busy_at, ready_at, created_at } = deployment;
  const idleMs = clock.now().getTime() - (busy_at ?? ready_at ?? created_at).getTime();
  if (replicas <= Math.max(1, min_replicas) || idleMs <= IDLE_REPLICA_MS) return;
  await setReplicas(tx, id, { replicas: replicas - 1, now: clock.now() });
  await reconcileModelServer(tx, clock, deployment.model_server_id);
  await publishChange(tx, deployment.user_id, { topic: 'deployment', id });
}

/**
 * Records the use of a replica if it is the last one. Others need no record, because only the last is
 * dropped.
 */
export async function recordReplicaUse(
  db: Database | Transaction,
  { podId, serverId, now }: { podId: string; serverId: string; now: Date },
): Promise<void> {
  await db
    .updateTable('deployments')
    .set({ busy_at: now })
    .where('id', '=', podId)
    .where((where) =>
      where.exists(
        where
          .selectFrom('model_servers')
          .select('id')
          .where('id', '=', serverId)
          .whereRef('deployment_id', '=', 'deployments.id')
          .whereRef('replica', '=', 'deployments.replicas'),
      ),
    )
    .execute();
}
