/** Returns one process's equal share of a limit, but at least 1. */
export function shareLimit(limit: number, processes: number): number {
  return Math.max(1, Math.floor(limit / processes));
}
