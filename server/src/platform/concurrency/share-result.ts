/**
 * Shares one call of `ask` among all concurrent callers and callers within `keptMs` after it settled, errors
 * included.
 */
export function shareResult<T>(ask: () => Promise<T>, keptMs: number): () => Promise<T> {
  let latest: Promise<T> | null = null;
  let settledAt = Number.NEGATIVE_INFINITY;
  let pending = false;

  return () => {
    const isFresh = pending || performance.now() - settledAt < keptMs;
    if (latest && isFresh) return latest;
    pending = true;
    latest = ask().finally(() => {
      pending = false;
      settledAt = performance.now();
    });
    return latest;
  };
}
