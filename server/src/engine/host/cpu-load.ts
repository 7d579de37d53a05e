import { availableParallelism, cpus, loadavg } from 'node:os';

/** What wants this machine's processors. */
export type CpuLoad = {
  /** Threads that work or wait for a processor: the mean of the last minute, all programs together. */
  busyThreads: number;
  /** Processors of the machine. */
  cores: number;
  /** Threads that a run uses. */
  runThreads: number;
};

/** The load at this moment; on Windows, which has no such mean, none. */
export function readCpuLoad(): CpuLoad {
  const runThreads = availableParallelism();
  return { busyThreads: loadavg()[0] ?? 0, cores: cpus().length || runThreads, runThreads };
}

/** A machine with nothing else to do, for tests. */
export function idleCpu(): CpuLoad {
  return { busyThreads: 0, cores: 1, runThreads: 1 };
}
