import type { Capacity } from '../../../../engine/model/capacity.ts';
import { countSlots } from '../../../../engine/queue/count-slots.ts';
import type { ServingPlacement } from '../../../serving/served-model.ts';
import { STARTER_SERVERS } from '../limits/cpu-servers.ts';

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
