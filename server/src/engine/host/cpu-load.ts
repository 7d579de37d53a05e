import { availableParallelism, cpus, loadavg } from 'node:os';
import type { CpuLoad } from '../model/offer.ts';

/** The load at this moment; on Windows, which has no such mean, none. */
export function readCpuLoad(): CpuLoad {
  const runThreads = availableParallelism();
  return { busyThreads: loadavg()[0] ?? 0, cores: cpus().length || runThreads, runThreads };
}

/** A machine with nothing else to do, for tests. */
export function idleCpu(): CpuLoad {
  return { busyThreads: 0, cores: 1, runThreads: 1 };
}
