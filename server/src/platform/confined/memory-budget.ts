type Waiting = { kind: string; mb: number; begin: () => void };

/**
 * Shares memory between programs of several kinds, which start in the order of their calls. A program whose
 * kind already uses memory may not raise that kind above half of the total. So other kinds always find
 * memory. A program that needs more than the total runs alone.
 */
export function memoryBudget(totalMb: number): {
  /** Waits for memory; resolves to a function that releases it. Rejects with the signal's reason. */
  enter: (kind: string, mb: number, signal: AbortSignal) => Promise<() => void>;
} {
  const usedBy = new Map<string, number>();
  let usedMb = 0;
  let line: Waiting[] = [];

  function add(kind: string, mb: number): void {
    usedMb += mb;
    usedBy.set(kind, (usedBy.get(kind) ?? 0) + mb);
  }

  function isWithinShare({ kind, mb }: Waiting): boolean {
    const own = usedBy.get(kind) ?? 0;
    return own === 0 || own + mb <= totalMb / 2;
  }

  function next(): void {
    for (const first of line.filter(isWithinShare)) {
      if (!isWithinShare(first)) continue;
      if (usedMb + first.mb > totalMb) return;
      line = line.filter((one) => one !== first);
      add(first.kind, first.mb);
      first.begin();
    }
  }

  return {
    enter: (kind, needMb, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted();
        const mb = Math.min(needMb, totalMb);
        const begin = () => {
          signal.removeEventListener('abort', abort);
          resolve(() => {
            add(kind, -mb);
            next();
          });
        };
        const waiting = { kind, mb, begin };
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
