/**
 * What one of several processes may let through of a limit that holds for all of them together:
 * equal shares, and at least 1. Pure.
 */
export function shareLimit(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes));
}

/**
 * How many times longer the window of a limit is where there are more processes than calls that it allows: one call of
 * each in that time is as many of all as the limit says. Pure.
 */
export function stretchWindow(limit: number, processes: number): number {
  return Math.max(1, processes / limit);
}
