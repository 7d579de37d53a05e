/** What a slow line of two megabits a second carries in a millisecond. */
const BYTES_PER_MS = 256;

/** In how many milliseconds so many bytes get over a slow line. Pure. */
export function msOverSlowLine(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_MS);
}
