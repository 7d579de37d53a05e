import type { Capacity } from '../../../../engine/model/capacity.ts';
import { countSlots } from '../../../../engine/queue/count-slots.ts';
import type { ServingPlacement } from '../../../serving/served-model.ts';
import { STARTER_SERVERS } from '../limits/cpu-servers.ts';

/**
 * How many slots of the installation model servers may take, in CPU slots or GPUs, those of one user and of all.
 * On the CPU the starter models have the last ones, and one user half of the others; on GPUs the queue decides
 * beyond what one user may have, which is always enough for one model server. Pure.
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
