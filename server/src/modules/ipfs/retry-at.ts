const FIRST_MS = 15_000;
const LONGEST_MS = 10 * 60_000;

/** When to look again after so many attempts that have ended nothing. */
export function retryAt(now: Date, attempts: number): Date {
  return new Date(now.getTime() + Math.min(FIRST_MS * 2 ** Math.min(attempts, 10), LONGEST_MS));
}
