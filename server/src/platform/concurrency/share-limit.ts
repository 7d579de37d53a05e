/** Returns one process's equal share of a limit, but at least 1. */
export function shareLimit(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes));
}

/**
 * Returns the factor by which the window of a limit must grow if there are more processes than allowed calls.
 * Then one call per process and window stays within the limit.
 */
export function stretchWindow(limit: number, processes: number): number {
  return Math.max(1, processes / limit);
}
