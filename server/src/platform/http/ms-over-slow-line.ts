/** Two megabits a second. */
const BYTES_PER_MS = 256;

/** Returns the milliseconds for this many bytes over a slow line of 2 Mbit/s. */
export function msOverSlowLine(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MS);
}
