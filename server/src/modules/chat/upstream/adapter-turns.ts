type Waiting = { adapter: string | null; begin: () => void };

export type AdapterTurns = {
  /** Waits until the adapter's turn has come, and resolves with how to leave. An abort rejects with the signal's reason. */
  enter: (adapter: string | null, signal: AbortSignal) => Promise<() => void>;
  /** How many are there or wait. */
  load: () => number;
};

/**
 * Lets in requests for one adapter at a time. llama.cpp computes for one alone: as long as an answer in an earlier
 * slot is written, it begins none through another adapter, and stops those that it has begun. So whoever waits for
 * another adapter comes next, before any more of the present one.
 */
export function adapterTurns(): AdapterTurns {
  let present: string | null = null;
  let inside = 0;
  let line: Waiting[] = [];

  function next(): void {
    for (;;) {
      const [first] = line;
      if (!first || (inside > 0 && first.adapter !== present)) return;
      // With the turn come all who wait for the same.
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
