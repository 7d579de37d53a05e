import type { Gpu } from './gpu.ts';
import type { Behaviour } from './workload.ts';

export type CpuSlots = `cpu:${Behaviour}`;

/**
 * Name of a pool of slots: `CpuSlots`, or a GPU type. Runs and deployments have separate CPU slots, so that a
 * served model never waits for a training to end. They share the GPUs.
 */
export type SlotClass = string;

/** Resources of a machine: the number of CPU slots, and its GPUs. */
export type Capacity = Partial<Record<CpuSlots, number>> & {
  gpus?: Gpu[];
  /** Memory available to CPU work; undefined if unknown. */
  cpuMemoryBytes?: number;
  /** Whether text models are served on the GPUs, which requires vLLM; otherwise on the CPU. */
  servesTextOnGpus?: boolean;
};
