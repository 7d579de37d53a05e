const HOUR_MS = 60 * 60 * 1000;

/** Returns the start of the period that counts as recent. */
export function recently(now: Date): Date {
  return new Date(now.getTime() - HOUR_MS);
}
