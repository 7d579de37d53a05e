/**
 * What one of several processes may let through of a limit that holds for all of them together:
 * equal shares, and at least 1. Pure.
 */
export function shareLimit(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes));
}
