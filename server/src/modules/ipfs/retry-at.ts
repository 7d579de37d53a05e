const FIRST_MS = 15_000;
const LONGEST_MS = 10 * 60_000;

/** Returns the time of the next try after this number of failures. */
export function retryAt(now: Date, attempts: number): Date {
  return new Date(now.getTime() + Math.min(FIRST_MS * 2 ** Math.min(attempts, 10), LONGEST_MS));
}
