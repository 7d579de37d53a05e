/** Where time comes from, so that tests need not wait for it. */
export type Clock = { now: () => Date };

/** A day of 24 hours, whatever the clocks of a place do. */
export const DAY_MS = 24 * 60 * 60 * 1000;

export const systemClock: Clock = { now: () => new Date() };
