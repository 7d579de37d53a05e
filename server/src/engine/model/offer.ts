import type { Capacity } from './capacity.ts';
import type { SpecKind } from './spec-kind.ts';

/**
 * What decides when a workload may start: `slots`, the queue of this installation, by the driver's capacity;
 * `driver`, the driver's own queue, to which all work goes at once that could ever fit, and which reports by
 * `pending` what it waits for.
 */
export type Admission = 'slots' | 'driver';

/** What wants this machine's processors. */
export type CpuLoad = {
  /** Threads that work or wait for a processor: the mean of the last minute, all programs together. */
  busyThreads: number;
  /** Processors of the machine. */
  cores: number;
  /** Threads that a run uses. */
  runThreads: number;
};

/** What a machine offers to waiting workloads. Who looks after its work writes it; every process reads it. */
export type Offer = {
  capacity: Capacity;
  admission: Admission;
  /** Why specs of a kind cannot start there at present, as one sentence; null: they can. By `specName`. */
  blockers: Record<string, string | null>;
  cpu: { cores: number; memory_bytes: number };
  /** Why it starts nothing of what it is given; absent from what an earlier version wrote. */
  trouble?: string | null;
  /** What wants its processors now; absent from what an earlier version wrote. */
  load?: CpuLoad;
};

/** The name of a kind of specs in an offer. */
export function specName({ kind, engine }: SpecKind): string {
  return engine === null ? kind : `${kind} ${engine}`;
}
