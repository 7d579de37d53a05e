import { countSlots } from '../../../../engine/queue/count-slots.ts';
import type { Capacity } from '../../../../engine/queue/queue.ts';
import type { ServingPlacement } from '../../kinds/deployment-kind.ts';

/** The starter models that everybody uses: one of text, one that draws and one that edits. */
const STARTERS = 3;

/**
 * How many slots of the installation model servers may take, in CPU slots or GPUs, those of one user and of all.
 * On the CPU the starter models have the last three, and one user half of the others; on GPUs the queue decides
 * beyond what one user may have, which is always enough for one model server. Pure.
 */
export function maxServers(
  { accelerator, count }: ServingPlacement,
  capacity: Capacity,
): { user: number; all: number } {
  const total = countSlots(accelerator ?? 'cpu:deployment', capacity);
  return accelerator === null
    ? { user: Math.max(1, Math.ceil((total - STARTERS) / 2)), all: Math.max(1, total - STARTERS) }
    : { user: Math.max(count, Math.ceil(total / 2)), all: Number.POSITIVE_INFINITY };
}
