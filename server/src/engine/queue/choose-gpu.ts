import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from '../model/capacity.ts';
import type { Gpu } from '../model/gpu.ts';
import { listedGpu } from '../model/listed-gpu.ts';

/**
 * The GPUs for work that wants some: those of the wanted type where the driver has as many, else
 * those of another kind that `fits` accepts, the nearest in memory first. Null: the CPU. Whether
 * they are busy does not matter: waiting is the queue's business. Pure.
 */
export function chooseGpu(
  wanted: { type: GpuType; count: number },
  { gpus = [] }: Capacity,
  fits: (gpu: Gpu) => boolean,
): Gpu | null {
  const enough = gpus.filter(({ devices }) => devices.length >= wanted.count);
  const asked = enough.find(({ type }) => type === wanted.type);
  if (asked) return asked;
  const distance = (gpu: Gpu) => Math.abs(gpu.memoryBytes - listedGpu(wanted.type).memoryBytes);
  const [nearest = null] = enough.filter(fits).toSorted((a, b) => distance(a) - distance(b));
  return nearest;
}
