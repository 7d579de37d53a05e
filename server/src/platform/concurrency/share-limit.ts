/** The share of one process in a limit that several processes keep together: equal, at least 1. Pure. */
export function shareLimit(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes));
}

/**
 * The factor by which a limit's window grows where there are more processes than calls that it allows, so that one
 * call of each process and window keeps the limit. Pure.
 */
export function stretchWindow(limit: number, processes: number): number {
  return Math.max(1, processes / limit);
}
