/** From the first to the last of beats without a break. */
export type Span = { since: Date; until: Date };

/**
 * Since when, and until which beat, reports could be accepted without a break: at any process, and at the one that a
 * workload reports to.
 */
export type Listening = { anywhere: Span; there: Span };
