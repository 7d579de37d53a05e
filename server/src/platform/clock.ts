/** Source of the current time, replaceable in tests. */
export type Clock = { now: () => Date };

/** Exactly 24 hours, regardless of daylight saving time. */
export const DAY_MS = 24 * 60 * 60 * 1000;

export const systemClock: Clock = { now: () => new Date() };
