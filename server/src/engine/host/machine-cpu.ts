import { availableParallelism } from 'node:os';
import type { Machine } from '@bakehouse/contract/machines';
import { machineMemoryBytes } from '../../platform/processes/machine-memory.ts';

/** The processor of this machine, and the memory that work may use. */
export function machineCpu(): Machine['cpu'] {
  return { cores: availableParallelism(), memory_bytes: machineMemoryBytes() };
}
