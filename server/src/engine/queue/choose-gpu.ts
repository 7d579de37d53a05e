import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from '../model/capacity.ts';
import type { Gpu } from '../model/gpu.ts';
import { listedGpu } from '../model/offer.ts';

/**
 * Chooses GPUs for a workload: the requested type if the driver has enough of them, otherwise the type with
 * the nearest memory size that `fits` accepts. Returns null for the CPU. Does not check whether the GPUs are
 * busy; the queue does.
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
