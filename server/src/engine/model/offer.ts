import type { GpuType } from '@bakehouse/contract/limits';
import type { Capacity } from './capacity.ts';
import type { SpecKind } from './spec-kind.ts';

const GB = 1024 ** 3;

const listedGpus: Record<GpuType, ListedGpu> = {
  NVIDIA_TESLA_V100: { memoryBytes: 16 * GB, computeCapability: 7.0 },
  NVIDIA_TESLA_A100: { memoryBytes: 40 * GB, computeCapability: 8.0 },
  NVIDIA_TESLA_A100_80GB: { memoryBytes: 80 * GB, computeCapability: 8.0 },
  NVIDIA_H100_80GB: { memoryBytes: 80 * GB, computeCapability: 9.0 },
};

/**
 * Who decides when a workload may start: `slots`, the queue of this installation by the driver's capacity; or
 * `driver`, the driver's own queue, which immediately receives all work that could ever fit and reports as
 * `pending` what it waits for.
 */
export type Admission = 'slots' | 'driver';

/** CPU load of this machine. */
export type CpuLoad = {
  /** Running or runnable threads of all programs, averaged over the last minute. */
  busyThreads: number;
  /** CPU cores of the machine. */
  cores: number;
  /** Threads that a run uses. */
  runThreads: number;
};

/** A machine's offer to waiting workloads, written by the server that manages its work. */
export type Offer = {
  capacity: Capacity;
  admission: Admission;
  /** Why specs of a kind cannot start there now, as one sentence, or null. Keyed by `specName`. */
  blockers: Record<string, string | null>;
  cpu: { cores: number; memory_bytes: number };
  /** Why assigned work does not start; absent in rows of earlier versions. */
  trouble?: string | null;
  /** CPU load; absent in rows of earlier versions. */
  load?: CpuLoad;
};

/** Returns the key of a spec kind in an offer. */
export function specName({ kind, engine }: SpecKind): string {
  return engine === null ? kind : `${kind} ${engine}`;
}

type ListedGpu = { memoryBytes: number; computeCapability: number };

/** Data sheet values of a listed GPU. */
export function listedGpu(type: GpuType): ListedGpu {
  return listedGpus[type];
}
