type Options = {
  /** Work of one key that runs at once; as much as runs at all unless said. */
  perKey?: number;
};

export type TakeTurn = <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/**
 * Lets at most `limit` pieces of work run at once. Those who wait take turns by their key: one with
 * many calls delays nobody else by more than the work that is running. One whose signal aborts leaves
 * the line, and its call rejects with the signal's reason; work that has begun is not ended here.
 */
export function takeTurns(limit: number, { perKey = limit }: Options = {}): TakeTurn {
  /** Who waits, by key; the first key's turn comes next. */
  const lines = new Map<string, (() => void)[]>();
  const runningOf = new Map<string, number>();
  let running = 0;

  function next(): void {
    if (running >= limit) return;
    const first = [...lines].find(([key]) => (runningOf.get(key) ?? 0) < perKey);
    if (!first) return;
    const [key, line] = first;
    const begin = line.shift();
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    running += 1;
    runningOf.set(key, (runningOf.get(key) ?? 0) + 1);
    begin?.();
  }

  function end(key: string): void {
    running -= 1;
    const left = (runningOf.get(key) ?? 1) - 1;
    if (left === 0) runningOf.delete(key);
    else runningOf.set(key, left);
    next();
  }

  function leave(key: string, begin: () => void): void {
    const left = (lines.get(key) ?? []).filter((one) => one !== begin);
    if (left.length === 0) lines.delete(key);
    else lines.set(key, left);
  }

  return async (key, work, signal) => {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        leave(key, begin);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      lines.set(key, [...(lines.get(key) ?? []), begin]);
      next();
    });
    try {
      return await work();
    } finally {
      end(key);
    }
  };
}
