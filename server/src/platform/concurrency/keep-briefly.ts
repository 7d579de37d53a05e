/**
 * Makes of a question one that is asked once by all who ask at the same time or within `keptMs` after the answer: they
 * get the same, be it a refusal.
 */
export function keepBriefly<T>(ask: () => Promise<T>, keptMs: number): () => Promise<T> {
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
