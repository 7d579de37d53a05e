import { totalmem } from 'node:os';

/** Returns the memory limit of the container, or all of the machine's memory without a container. */
export function machineMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
