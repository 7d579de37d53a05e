type Waiting = { adapter: string | null; begin: () => void };

export type AdapterTurns = {
  /** Waits for the adapter's turn; returns a function that leaves. Rejects with the signal's reason. */
  enter: (adapter: string | null, signal: AbortSignal) => Promise<() => void>;
  /** Running and waiting requests. */
  load: () => number;
};

/**
 * Admits requests of one adapter at a time. llama.cpp computes one adapter at a time: while an answer in an
 * earlier slot is being written, it starts no answer with another adapter and pauses running ones. A request
 * for another adapter is therefore next, before new requests of the current adapter.
 */
export function adapterTurns(): AdapterTurns {
  let present: string | null = null;
  let inside = 0;
  let line: Waiting[] = [];

  function next(): void {
    for (;;) {
      const [first] = line;
      if (!first || (inside > 0 && first.adapter !== present)) return;
      // All waiting requests of the same adapter share the turn.
      if (inside === 0) {
        present = first.adapter;
        line = [
          ...line.filter(({ adapter }) => adapter === present),
          ...line.filter(({ adapter }) => adapter !== present),
        ];
      }
      inside += 1;
      line.shift()?.begin();
    }
  }

  return {
    load: () => inside + line.length,
    enter: (adapter, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const leave = () => {
          inside -= 1;
          next();
        };
        const waiting = {
          adapter,
          begin: () => {
            signal.removeEventListener('abort', abort);
            resolve(leave);
          },
        };
        const abort = () => {
          line = line.filter((one) => one !== waiting);
          reject(signal.reason as Error);
          next();
        };
        signal.addEventListener('abort', abort, { once: true });
        line.push(waiting);
        next();
      }),
  };
}
