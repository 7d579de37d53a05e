import { gpuLabel } from '@bakehouse/contract/labels';
import type { Capacity } from '../../../../engine/model/capacity.ts';
import { countSlots } from '../../../../engine/queue/queue.ts';
import type { Transaction } from '../../../../platform/db/database.ts';
import { conflict } from '../../../../platform/errors.ts';
import { listStarterModels } from '../../../models/starter/starters.ts';
import type { ServingPlacement } from '../../../serving/served-model.ts';
import { countAwakeSlots, findModelServer } from '../server-queries.ts';

/** The number of starter models, which all users share: text, picture generation and picture editing. */
const STARTER_SERVERS = 3;

/**
 * Maximum model servers on one machine's CPU, including starter models. Most of the time, they are idle. When
 * a server is replaced, its successor starts first, so there are more slots than are normally in use.
 */
export const CPU_SERVERS = STARTER_SERVERS + 3;

type Asked = {
  userId: string;
  /** The deployment's model server; with replicas, the first. */
  serverId: string;
  baseAssetId: string;
  /** How many replicas should be awake. */
  replicas: number;
  /** The capacity of all machines together. */
  capacity: Capacity;
};

/**
 * Step: checks the limits of awake model servers. A user's CPU slots and GPUs of a kind are limited. On the
 * CPU, the slots of all users together are limited too. Adapters on a running base and starter models do not
 * count. Throws AppError 'conflict'.
 */
export async function assertServerLimit(
  tx: Transaction,
  { userId, serverId, baseAssetId, replicas, capacity }: Asked,
): Promise<void> {
  const { accelerator, accelerator_count, deployment_id } = await findModelServer(tx, serverId);
  const starterIds = (await listStarterModels(tx)).map((starter) => starter.assetId);
  const isStarter = deployment_id === null && starterIds.includes(baseAssetId);
  if (isStarter) return;
  const max = maxServers({ accelerator, count: accelerator_count }, capacity);
  const awake = await countAwakeSlots(tx, { userId, serverId, starterIds, accelerator });
  const asked = replicas * Math.max(1, accelerator_count);
  if (awake.own + asked > max.user) {
    throw conflict(
      `${tooManyOfUser(accelerator, max.user, awake.own)}. Terminate a deployment, or wait until one sleeps`,
    );
  }
  if (awake.all + asked > max.all) {
    throw conflict(
      `${awake.all} model servers are awake, and the CPU has room for ${max.all} beside the ` +
        'starter models. Deploy a model on one of their bases or on the starter model, or wait until one sleeps',
    );
  }
}

function tooManyOfUser(accelerator: string | null, max: number, own: number): string {
  return accelerator === null
    ? `One user may keep ${max} model servers awake on the CPU, one for each base model or replica, and you keep ${own}`
    : `The model servers of one user may take ${max} x ${gpuLabel(accelerator)}, and yours take ${own}`;
}

/**
 * Returns how many slots (CPU slots or GPUs) model servers may use, per user and in total. On the CPU,
 * starter models have reserved slots, and one user may use half of the others. On GPUs, there is no limit in
 * total, because workloads wait in the queue; one user may use half of them, and always enough for one model
 * server.
 */
export function maxServers(
  { accelerator, count }: ServingPlacement,
  capacity: Capacity,
): { user: number; all: number } {
  const total = countSlots(accelerator ?? 'cpu:deployment', capacity);
  const others = total - STARTER_SERVERS;
  return accelerator === null
    ? { user: Math.max(1, Math.ceil(others / 2)), all: Math.max(1, others) }
    : { user: Math.max(count, Math.ceil(total / 2)), all: Number.POSITIVE_INFINITY };
}
