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
 * Decides when a workload may start. `slots`: our own queue assigns the driver's slots. `driver`: the driver
 * has its own queue. It immediately receives all work that could ever fit, and reports why that work is still
 * `pending`.
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

/** What a machine offers to waiting workloads. Written by the server that manages the machine's work. */
export type Offer = {
  capacity: Capacity;
  admission: Admission;
  /** By `specName`: one sentence that explains why specs of that kind cannot start there now, or null. */
  blockers: Record<string, string | null>;
  cpu: { cores: number; memory_bytes: number };
  /** Why starts fail on this machine, or null; absent in rows of earlier versions. */
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
