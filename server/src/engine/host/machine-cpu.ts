import { availableParallelism, cpus, loadavg } from 'node:os';
import type { Machine } from '@bakehouse/contract/machines';
import { machineMemoryBytes } from '../../platform/processes/processes.ts';
import type { CpuLoad } from '../model/offer.ts';

/** Returns the CPU cores of this machine, and the memory available to work. */
export function machineCpu(): Machine['cpu'] {
  return { cores: availableParallelism(), memory_bytes: machineMemoryBytes() };
}

/** Returns the current load; 0 on Windows, which has no load average. */
export function readCpuLoad(): CpuLoad {
  const runThreads = availableParallelism();
  return { busyThreads: loadavg()[0] ?? 0, cores: cpus().length || runThreads, runThreads };
}

/** Returns the load of an idle machine, for tests. */
export function idleCpu(): CpuLoad {
  return { busyThreads: 0, cores: 1, runThreads: 1 };
}
