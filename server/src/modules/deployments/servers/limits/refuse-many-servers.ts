import { gpuLabel } from '@bakehouse/contract/labels';
import type { Capacity } from '../../../../engine/model/capacity.ts';
import type { Transaction } from '../../../../platform/db/database.ts';
import { AppError } from '../../../../platform/errors.ts';
import { listStarterModels } from '../../../models/starter/list-starter-models.ts';
import { maxServers } from '../plan/max-servers.ts';
import { countSlotsAwake, findModelServer } from '../server-queries.ts';

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
export async function refuseManyServers(
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
    throw new AppError('conflict', {
      publicMessage: `${tooManyOfUser(accelerator, max.user, awake.own)}. Terminate a deployment, or wait until one sleeps`,
    });
  }
  if (awake.all + asked > max.all) {
    throw new AppError('conflict', {
      publicMessage:
        `${awake.all} model servers are awake, and the CPU has room for ${max.all} beside the ` +
        'starter models. Deploy a model on one of their bases or on the starter model, or wait until one sleeps',
    });
  }
}

function tooManyOfUser(accelerator: string | null, max: number, own: number): string {
  return accelerator === null
    ? `One user may keep ${max} model servers awake on the CPU, one for each base model or replica, and you keep ${own}`
    : `The model servers of one user may take ${max} x ${gpuLabel(accelerator)}, and yours take ${own}`;
}
