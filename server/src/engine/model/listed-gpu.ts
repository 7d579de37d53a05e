import type { GpuType } from '@bakehouse/contract/limits';

type ListedGpu = { memoryBytes: number; computeCapability: number };

const GB = 1024 ** 3;

const listedGpus: Record<GpuType, ListedGpu> = {
  NVIDIA_TESLA_V100: { memoryBytes: 16 * GB, computeCapability: 7.0 },
  NVIDIA_TESLA_A100: { memoryBytes: 40 * GB, computeCapability: 8.0 },
  NVIDIA_TESLA_A100_80GB: { memoryBytes: 80 * GB, computeCapability: 8.0 },
  NVIDIA_H100_80GB: { memoryBytes: 80 * GB, computeCapability: 9.0 },
};

/** Data sheet values of a listed GPU. */
export function listedGpu(type: GpuType): ListedGpu {
  return listedGpus[type];
}
