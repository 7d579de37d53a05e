type Waiter = { begin: () => void };

/**
 * Lets at most `limit` pieces of work run at once. Users take turns, and the last free place is for
 * one who has nothing running: however much others ask, a newcomer waits for nobody. Resolves with
 * how to give the place back; an abort while waiting rejects with the signal's reason.
 */
export function fairTurns(limit: number): (userId: string, signal: AbortSignal) => Promise<() => void> {
  /** Who waits, by user; the first user's turn comes next. */
  const lines = new Map<string, Waiter[]>();
  const runningOf = new Map<string, number>();
  let running = 0;

  const mayBegin = (userId: string) => running < limit - 1 || (running < limit && !runningOf.has(userId));

  function next(): void {
    for (const [userId, line] of lines) {
      if (!mayBegin(userId)) continue;
      const waiter = line.shift();
      lines.delete(userId);
      if (line.length > 0) lines.set(userId, line);
      running += 1;
      runningOf.set(userId, (runningOf.get(userId) ?? 0) + 1);
      waiter?.begin();
      return;
    }
  }

  function leave(userId: string): void {
    running -= 1;
    const left = (runningOf.get(userId) ?? 1) - 1;
    if (left === 0) runningOf.delete(userId);
    else runningOf.set(userId, left);
    next();
  }

  return (userId, signal) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const giveUp = () => {
        const line = lines.get(userId)?.filter((one) => one !== waiter) ?? [];
        if (line.length > 0) lines.set(userId, line);
        else lines.delete(userId);
        reject(signal.reason as Error);
      };
      const waiter: Waiter = {
        begin: () => {
          signal.removeEventListener('abort', giveUp);
          resolve(() => leave(userId));
        },
      };
      signal.addEventListener('abort', giveUp, { once: true });
      lines.set(userId, [...(lines.get(userId) ?? []), waiter]);
      next();
    });
}
