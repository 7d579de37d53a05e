type Options = {
  /** Work of one key that runs at once; as much as runs at all unless said. */
  perKey?: number;
  /** The last free place is for a key that has nothing running: however much others ask, a newcomer waits for nobody. */
  lastForNewcomer?: boolean;
};

export type FairQueue = {
  /** Waits for a place, and resolves with how to give it back. An abort while waiting rejects with the signal's reason. */
  enter: (key: string, signal?: AbortSignal) => Promise<() => void>;
  /** Holds a place for as long as the work takes; work that has begun is not ended by the signal. */
  run: <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
};

/**
 * Lets at most `limit` pieces of work run at once. Those who wait take turns by their key, e.g. a
 * user: one with many calls delays nobody else by more than the work that is running.
 */
export function fairQueue(limit: number, options: Options = {}): FairQueue {
  const { perKey = limit, lastForNewcomer = false } = options;
  /** Who waits, by key; the first key's turn comes next. */
  const lines = new Map<string, (() => void)[]>();
  const runningOf = new Map<string, number>();
  let running = 0;

  function mayBegin(key: string): boolean {
    const own = runningOf.get(key) ?? 0;
    const isLast = running === limit - 1;
    return running < limit && own < perKey && !(lastForNewcomer && isLast && own > 0);
  }

  function next(): void {
    const first = [...lines].find(([key]) => mayBegin(key));
    if (!first) return;
    const [key, line] = first;
    const begin = line.shift();
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    running += 1;
    runningOf.set(key, (runningOf.get(key) ?? 0) + 1);
    begin?.();
  }

  function leave(key: string): void {
    running -= 1;
    const left = (runningOf.get(key) ?? 1) - 1;
    if (left === 0) runningOf.delete(key);
    else runningOf.set(key, left);
    next();
  }

  function giveUp(key: string, begin: () => void): void {
    const left = (lines.get(key) ?? []).filter((one) => one !== begin);
    if (left.length === 0) lines.delete(key);
    else lines.set(key, left);
  }

  const enter: FairQueue['enter'] = (key, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const begin = () => {
        signal?.removeEventListener('abort', abort);
        resolve(() => leave(key));
      };
      const abort = () => {
        giveUp(key, begin);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      lines.set(key, [...(lines.get(key) ?? []), begin]);
      next();
    });

  return {
    enter,
    run: async (key, work, signal) => {
      const end = await enter(key, signal);
      try {
        return await work();
      } finally {
        end();
      }
    },
  };
}
