import type { GpuType } from '@bakehouse/contract/limits';

/** GPUs of one kind on the machines of a driver. */
export type Gpu = {
  /** The product's name for them, or their own where it lists none; it also names their class of slots. */
  type: string;
  /** What each of them really has. */
  memoryBytes: number;
  /** The listed GPU that they are most like: their price and their speed are taken to be that one's. */
  like: GpuType;
  /** By the numbers that their machine gives them. */
  devices: number[];
};

const GB = 1024 ** 3;

/** What the product's GPUs have, by NVIDIA's data sheets. */
export const listedGpus: Record<GpuType, { memoryBytes: number; computeCapability: number }> = {
  NVIDIA_TESLA_V100: { memoryBytes: 16 * GB, computeCapability: 7.0 },
  NVIDIA_TESLA_A100: { memoryBytes: 40 * GB, computeCapability: 8.0 },
  NVIDIA_TESLA_A100_80GB: { memoryBytes: 80 * GB, computeCapability: 8.0 },
  NVIDIA_H100_80GB: { memoryBytes: 80 * GB, computeCapability: 9.0 },
};
