import { availableParallelism, totalmem } from 'node:os';
import type { Machine } from '@bakehouse/contract/machines';

/** The processor of this machine, and the memory that work may use. */
export function machineCpu(): Machine['cpu'] {
  return { cores: availableParallelism(), memory_bytes: memoryBytes() };
}

/** What the container may use, where there is one, else what the machine has. */
function memoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
