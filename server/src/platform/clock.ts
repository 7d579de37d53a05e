/** Exactly 24 hours, regardless of daylight saving time. */
export const DAY_MS = 24 * 60 * 60 * 1000;

export const systemClock: Clock = { now: () => new Date() };
const HOUR_MS = 60 * 60 * 1000;

/** Source of the current time, replaceable in tests. */
export type Clock = { now: () => Date };

/** Returns the start of the period that counts as recent. */
export function recently(now: Date): Date {
  return new Date(now.getTime() - HOUR_MS);
}
