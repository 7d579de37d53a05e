type Options = {
  /** Maximum number of concurrent tasks of one key. Defaults to the limit. */
  perKey?: number;
  /** Reserves the last free slot for a key with no running task, so that no single key blocks another. */
  lastForNewcomer?: boolean;
};

export type FairQueue = {
  /**
   * Waits for a slot; resolves to a function that releases it. If the signal aborts while waiting, rejects
   * with its reason.
   */
  enter: (key: string, signal?: AbortSignal) => Promise<() => void>;
  /** Like `enter`, but returns null instead of waiting. */
  enterNow: (key: string) => (() => void) | null;
  /** Holds a slot while `work` runs. The signal only ends the wait, not work that has begun. */
  run: <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** Number of running and waiting tasks of all keys. */
  load: () => number;
  /** Number of waiting tasks of this key. */
  waiting: (key: string) => number;
};

/**
 * Runs at most `limit` tasks concurrently. Keys, such as user ids, are served round-robin, so a key with many
 * tasks delays others only by its running ones. A changed limit applies when the next task starts or ends.
 */
export function fairQueue(limit: number | (() => number), options: Options = {}): FairQueue {
  const places = countPlaces(typeof limit === 'number' ? () => limit : limit, options);
  /** Waiting tasks by key. The first key is served next. */
  const lines = new Map<string, (() => void)[]>();

  /** Starts every task that may start. There may be several if the limit has grown. */
  function next(): void {
    while (!places.areFull()) {
      const first = lines.entries().find(([key]) => places.mayTake(key));
      if (!first) return;
      const [key, line] = first;
      const begin = line.shift();
      lines.delete(key);
      if (line.length > 0) lines.set(key, line);
      places.take(key);
      begin?.();
    }
  }

  function leave(key: string): void {
    places.release(key);
    next();
  }

  function dropWaiting(key: string, begin: () => void): void {
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
        dropWaiting(key, begin);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', abort, { once: true });
      const line = lines.get(key);
      if (line) line.push(begin);
      else lines.set(key, [begin]);
      next();
    });

  return {
    enter,
    load: () => [...lines.values()].reduce((sum, line) => sum + line.length, places.taken()),
    waiting: (key) => lines.get(key)?.length ?? 0,
    enterNow: (key) => {
      // All waiting tasks that may start have already started, so this one does not overtake any.
      if (!places.mayTake(key)) return null;
      places.take(key);
      return () => leave(key);
    },
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

/** Counts used slots, and checks whether a key may use another one. */
function countPlaces(
  readLimit: () => number,
  { perKey = Number.POSITIVE_INFINITY, lastForNewcomer = false }: Options,
) {
  const takenBy = new Map<string, number>();
  let taken = 0;
  return {
    taken: () => taken,
    areFull: () => taken >= readLimit(),
    mayTake: (key: string) => {
      const own = takenBy.get(key) ?? 0;
      const max = readLimit();
      const isLast = taken === max - 1;
      return taken < max && own < perKey && !(lastForNewcomer && isLast && own > 0);
    },
    take: (key: string) => {
      taken += 1;
      takenBy.set(key, (takenBy.get(key) ?? 0) + 1);
    },
    release: (key: string) => {
      taken -= 1;
      const left = (takenBy.get(key) ?? 1) - 1;
      if (left === 0) takenBy.delete(key);
      else takenBy.set(key, left);
    },
  };
}
