import type { GpuType } from '@bakehouse/contract/limits';
import { type Capacity, slotNumbers } from './queue.ts';
import type { Placement } from './workload.ts';

/**
 * Where work that wants GPUs goes: to them where the driver has as many of that type, busy or not,
 * else to the CPU. Whether it has to wait there is the queue's business. Pure.
 */
export function placeWorkload(wanted: { type: GpuType; count: number }, capacity: Capacity): Placement {
  return slotNumbers(wanted.type, capacity).length >= wanted.count
    ? { accelerator: wanted.type, count: wanted.count }
    : { accelerator: null, count: 0 };
}
