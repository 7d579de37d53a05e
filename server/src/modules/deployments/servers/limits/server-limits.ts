import { gpuLabel } from '@bakehouse/contract/labels';
import type { Capacity } from '../../../../engine/model/capacity.ts';
import { countSlots } from '../../../../engine/queue/queue.ts';
import type { Transaction } from '../../../../platform/db/database.ts';
import { conflict } from '../../../../platform/errors.ts';
import { listStarterModels } from '../../../models/starter/starters.ts';
import type { ServingPlacement } from '../../../serving/served-model.ts';
import { countSlotsAwake, findModelServer } from '../server-queries.ts';

/** The starter models that all users share: text, picture generation and picture editing. */
const STARTER_SERVERS = 3;

/**
 * Model servers that may run concurrently on one machine's CPU, including the starter models. They are idle
 * most of the time, and a server is replaced by starting its successor first, so this exceeds the number
 * normally in use.
 */
export const CPU_SERVERS = STARTER_SERVERS + 3;

type Asked = {
  userId: string;
  /** The deployment's model server, or its first replica. */
  serverId: string;
  baseAssetId: string;
  /** Replicas that should be awake. */
  replicas: number;
  /** Capacity of the whole installation. */
  capacity: Capacity;
};

/**
 * Step: limits a user's slots for awake model servers (CPU slots, or GPUs of a kind), and on the CPU all
 * users' slots together. Adapters on a running base and starter models don't count. Throws AppError
 * 'conflict'.
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
  const awake = await countSlotsAwake(tx, { userId, serverId, starterIds, accelerator });
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
 * Returns the slots (CPU slots or GPUs) that model servers may use, per user and in total. On the CPU the
 * starter models have reserved slots and one user may use half of the rest; on GPUs the queue decides beyond
 * the user's limit, which always allows one model server.
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
