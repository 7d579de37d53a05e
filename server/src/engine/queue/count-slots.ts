import type { Capacity, SlotClass } from '../model/capacity.ts';
import { isCpu } from './queue.ts';

/** Returns the number of slots of a class. */
export function countSlots(name: SlotClass, capacity: Capacity): number {
  if (isCpu(name)) return capacity[name] ?? 0;
  const gpus = (capacity.gpus ?? []).filter(({ type }) => type === name);
  return gpus.reduce((sum, { devices, machines = 1 }) => sum + devices.length * machines, 0);
}
