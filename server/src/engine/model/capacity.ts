import type { Gpu } from './gpu.ts';
import type { Behaviour } from './workload.ts';

export type CpuSlots = `cpu:${Behaviour}`;

/**
 * Slots that are handed out together: `CpuSlots`, or the type of some GPUs. CPU slots are apart
 * for runs and deployments, so that a served model never waits for a training to end; GPUs are
 * shared by both.
 */
export type SlotClass = string;

/** What a machine has: how many slots on the CPU, and which GPUs. */
export type Capacity = Partial<Record<CpuSlots, number>> & {
  gpus?: Gpu[];
  /** The memory that work on the CPU may use; undefined where nothing says so. */
  cpuMemoryBytes?: number;
  /** Whether text is served on the GPUs: there are some, and vLLM is installed. Else the CPU serves it. */
  servesTextOnGpus?: boolean;
};
