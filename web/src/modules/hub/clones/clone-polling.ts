/** How clones are asked for while no events come, in milliseconds. */
export const clonePolling = {
  /** It is looked this often whose turn it is. */
  tickMs: 1_000,
  startMs: 3_000,
  maxMs: 10_000,
  /** Where nothing has moved, and where something has. */
  grow: 1.5,
  shrink: 0.7,
  /** Between two that are asked for. */
  pauseMs: 500,
};

/** When to ask for a clone again, after one answer. Pure. */
export function nextInterval(ms: number, hasMoved: boolean): number {
  const { startMs, maxMs, grow, shrink } = clonePolling;
  return hasMoved ? Math.max(startMs, ms * shrink) : Math.min(maxMs, ms * grow);
}
