import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';
import type { Gpu } from '../../../engine/model/gpu.ts';
import { chooseGpu } from '../../../engine/queue/choose-gpu.ts';
import type { ServingPlacement } from '../served-model.ts';
import type { ImageMemory } from './image-memory.ts';

const GIB = 1024 ** 3;

/** The part of a GPU's memory that a process gets. */
const GPU_SHARE = 0.95;
/** What generating a picture of a megapixel takes beside the weights, and CUDA itself; the runtime leaves Paris as much. */
const BESIDE_WEIGHTS_BYTES = 4 * GIB;
/** A model with more weights would take minutes for a picture on the CPU. */
const CPU_WEIGHTS_BYTES_MAX = GIB;

/**
 * The GPU that was asked for where what it has to hold fits into one, else one of another kind, and the CPU for a small model where
 * there is none. Else the gibibytes that a GPU would need. Pure.
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
