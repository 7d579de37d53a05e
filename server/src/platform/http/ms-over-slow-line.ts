/** Two megabits a second. */
const BYTES_PER_MS = 256;

/** Milliseconds that so many bytes take over a slow line of 2 Mbit/s. Pure. */
export function msOverSlowLine(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MS);
}
