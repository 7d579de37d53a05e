/**
 * Lets at most `limit` pieces of work run at once. Those who wait take turns by their key: one with
 * many calls delays nobody else by more than the work that is running.
 */
export function takeTurns(limit: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  /** Who waits, by key; the first key's turn comes next. */
  const lines = new Map<string, (() => void)[]>();
  let running = 0;

  function next(): void {
    const [first] = lines;
    if (!first || running >= limit) return;
    const [key, line] = first;
    const begin = line.shift();
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    running += 1;
    begin?.();
  }

  return async (key, work) => {
    await new Promise<void>((resolve) => {
      lines.set(key, [...(lines.get(key) ?? []), resolve]);
      next();
    });
    try {
      return await work();
    } finally {
      running -= 1;
      next();
    }
  };
}
