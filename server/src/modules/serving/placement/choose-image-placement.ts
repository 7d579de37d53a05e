import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import type { ServingPlacement } from '../served-model.ts';
import type { ImageMemory } from './image-memory.ts';

const GIB = 1024 ** 3;

/** Share of a GPU's memory that a process may use. */
const GPU_SHARE = 0.95;
/**
 * Memory for CUDA and a one-megapixel picture next to the weights; the runtime reserves the same for Paris.
 */
const BESIDE_WEIGHTS_BYTES = 4 * GIB;
/** A larger model would take minutes per picture on the CPU. */
const CPU_WEIGHTS_BYTES_MAX = GIB;

/**
 * Returns the requested GPU if the model fits, else another type, else the CPU for a small model; or the
 * gibibytes that a GPU would need.
 */
export function chooseImagePlacement(
  type: GpuType,
  { gpus = [] }: Capacity,
  { allBytes, gpuBytes }: ImageMemory,
): ServingPlacement | { neededGib: number } {
  const neededBytes = gpuBytes + BESIDE_WEIGHTS_BYTES;
  const fits = ({ memoryBytes }: Gpu) => neededBytes <= memoryBytes * GPU_SHARE;
  const gpu = chooseGpu({ type, count: 1 }, { gpus: gpus.filter(fits) }, () => true);
  if (gpu) return { accelerator: gpu.type, count: 1 };
  if (allBytes <= CPU_WEIGHTS_BYTES_MAX) return { accelerator: null, count: 0 };
  return { neededGib: Math.ceil(neededBytes / GPU_SHARE / GIB) };
}
