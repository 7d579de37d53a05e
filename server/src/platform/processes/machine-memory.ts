import { totalmem } from 'node:os';

/** Returns the memory that the container may use, or all of the machine's without a container. */
export function machineMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
