/** Returns one process's share of a limit that several processes share: equal, at least 1. */
export function shareLimit(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes));
}

/**
 * Returns the factor by which a limit's window grows if there are more processes than allowed calls, so that
 * one call per process and window respects the limit.
 */
export function stretchWindow(limit: number, processes: number): number {
  return Math.max(1, processes / limit);
}
