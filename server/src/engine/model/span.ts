/** First and last of a series of heartbeats without a gap. */
export type Span = { since: Date; until: Date };

/**
 * Periods up to the last heartbeat in which reports were accepted without a gap: by any process, and by the
 * process that a workload reports to.
 */
export type Listening = { anywhere: Span; there: Span };
