/** Where time comes from, so that tests need not wait for it. */
export type Clock = { now: () => Date };

export const systemClock: Clock = { now: () => new Date() };
