type Options = {
  /** Concurrent work of one key. Defaults to the limit. */
  perKey?: number;
  /** The last free place goes to a key with nothing running, so newcomers never wait for one busy key. */
  lastForNewcomer?: boolean;
};

export type FairQueue = {
  /**
   * Waits for a place; resolves with a function that releases it. An abort while waiting rejects with the
   * signal's reason.
   */
  enter: (key: string, signal?: AbortSignal) => Promise<() => void>;
  /** Like `enter` without waiting: null if no place is free. */
  enterNow: (key: string) => (() => void) | null;
  /** Holds a place while `work` runs; the signal does not end work that has begun. */
  run: <T>(key: string, work: () => Promise<T>, signal?: AbortSignal) => Promise<T>;
  /** Running and waiting work of all keys. */
  load: () => number;
  /** Waiting work of this key. */
  waiting: (key: string) => number;
};

/**
 * Runs at most `limit` tasks concurrently. Keys, e.g. users, take turns: a key with many calls delays another
 * by no more than the running work. A changed limit applies from the next call that starts or ends.
 */
export function fairQueue(limit: number | (() => number), options: Options = {}): FairQueue {
  const places = countPlaces(typeof limit === 'number' ? () => limit : limit, options);
  /** Waiting calls by key; the first key is next. */
  const lines = new Map<string, (() => void)[]>();

  /** Starts everything that may start: several calls if the limit has grown. */
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
    places.giveBack(key);
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
      // Waiting work that may begin has begun already, so this overtakes nothing.
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

/** Counts used places, and checks whether a key may take another. */
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
    giveBack: (key: string) => {
      taken -= 1;
      const left = (takenBy.get(key) ?? 1) - 1;
      if (left === 0) takenBy.delete(key);
      else takenBy.set(key, left);
    },
  };
}
