/** Polling of clones without events, in milliseconds. */
export const clonePolling = {
  /** How often due clones are checked. */
  tickMs: 1_000,
  startMs: 3_000,
  maxMs: 10_000,
  /** Factors without and with progress. */
  grow: 1.5,
  shrink: 0.7,
  /** Pause between two requests. */
  pauseMs: 500,
};

/** Returns the next polling interval of a clone after an answer. */
export function nextInterval(ms: number, hasMoved: boolean): number {
  const { startMs, maxMs, grow, shrink } = clonePolling;
  return hasMoved ? Math.max(startMs, ms * shrink) : Math.min(maxMs, ms * grow);
}
