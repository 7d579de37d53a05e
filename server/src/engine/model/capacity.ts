import type { Gpu } from './gpu.ts';
import type { Behaviour } from './workload.ts';

export type CpuSlots = `cpu:${Behaviour}`;

/**
 * Slots that are assigned together: `CpuSlots`, or the type of some GPUs. CPU slots are separate for runs and
 * deployments, so that a served model never waits for a training to end; GPUs are shared by both.
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
