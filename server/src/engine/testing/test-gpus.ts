import { type GpuType, gpuTypes } from '@bakehouse/contract/limits';
import type { Gpu } from '../model/gpu.ts';
import { listedGpu } from '../model/offer.ts';

/** For tests: GPUs of a listed type with the listed memory. */
export function listed(type: GpuType, devices: number[]): Gpu {
  return { type, memoryBytes: listedGpu(type).memoryBytes, like: type, devices };
}

/** For tests: GPUs of an unlisted type. */
export function unlisted(type: string, gigabytes: number, devices: number[]): Gpu {
  const [smallest] = gpuTypes;
  return { type, memoryBytes: gigabytes * 1024 ** 3, like: smallest, devices };
}
