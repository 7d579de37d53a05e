import { availableParallelism } from 'node:os';
import type { Machine } from '@bakehouse/contract/machines';
import { machineMemoryBytes } from '../../platform/processes/machine-memory.ts';

/** Returns the CPU cores of this machine, and the memory available to work. */
export function machineCpu(): Machine['cpu'] {
  return { cores: availableParallelism(), memory_bytes: machineMemoryBytes() };
}
