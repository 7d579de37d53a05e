import type { Cluster } from '../cluster.ts';

/** A cluster connection that can be paused or cut, like a process that is suspended or loses its network. */
export type Holdable = {
  cluster: Cluster;
  /** Pauses sending and receiving. */
  hold: () => void;
  isHeld: () => boolean;
  /** Number of calls that were made while paused and not sent yet. */
  waiting: () => number;
  /** Sends the waiting calls. */
  wake: () => void;
  /**
   * Delivers the events received while paused. Separate from `wake`, because a resumed process may continue
   * before it sees them.
   */
  hear: () => void;
  /** Collections that could not be watched because the server did not respond. */
  refused: ReadonlySet<string>;
  /** Calls fail and watches break until `heal`. */
  partition: () => void;
  heal: () => void;
};

export function holdable(inner: Cluster): Holdable {
  let held: PromiseWithResolvers<void> | null = null;
  let deaf: PromiseWithResolvers<void> | null = null;
  const ears = new Set<() => void>();
  const refused = new Set<string>();
  let waiting = 0;
  let partitioned = new AbortController();

  async function send<T>(call: () => Promise<T>): Promise<T> {
    if (held) waiting += 1;
    await held?.promise;
    partitioned.signal.throwIfAborted();
    return call();
  }
  async function listen(...[place, onLine, options]: Parameters<Cluster['readLines']>) {
    const ear = earOf(onLine, () => deaf !== null);
    ears.add(ear.hear);
    let isOpen = false;
    const onOpen = () => {
      isOpen = true;
      options.onOpen?.();
    };
    const signal = AbortSignal.any([options.signal, partitioned.signal, ear.broken]);
    try {
      await inner.readLines(place, ear.take, { ...options, signal, onOpen });
    } finally {
      if (!isOpen) refused.add(place.replace(/\?.*/, ''));
      // A paused process does not notice that its connection was closed.
      await deaf?.promise;
      ears.delete(ear.hear);
    }
    ear.broken.throwIfAborted();
  }
  return {
    cluster: {
      ...{ name: inner.name, namespace: inner.namespace, close: () => inner.close() },
      call: (...call) => send(() => inner.call(...call)),
      readText: (place) => send(() => inner.readText(place)),
      readLines: (...call) => send(() => listen(...call)),
    },
    hold: () => {
      held ??= Promise.withResolvers();
      deaf ??= Promise.withResolvers();
    },
    isHeld: () => held !== null,
    waiting: () => waiting,
    refused,
    wake: () => {
      held?.resolve();
      held = null;
      waiting = 0;
    },
    hear: () => {
      const ended = deaf;
      deaf = null;
      for (const tell of ears) tell();
      ended?.resolve();
    },
    partition: () => partitioned.abort(new Error('The network is down')),
    heal: () => {
      partitioned = new AbortController();
    },
  };
}

/** Buffers lines while paused and delivers them when resumed. `broken` aborts if `onLine` threw. */
function earOf(onLine: (line: string) => void, isDeaf: () => boolean) {
  const unheard: string[] = [];
  const broken = new AbortController();
  return {
    broken: broken.signal,
    take: (line: string) => (isDeaf() ? void unheard.push(line) : onLine(line)),
    hear: () => {
      try {
        for (const line of unheard.splice(0)) onLine(line);
      } catch (error) {
        broken.abort(error);
      }
    },
  };
}
