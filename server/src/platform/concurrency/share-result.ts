/**
 * Shares the result of `ask`, also an error, among concurrent callers, and among callers within `keptMs`
 * after it settled.
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
