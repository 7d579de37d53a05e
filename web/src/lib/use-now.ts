import { useEffect, useState } from 'react';

type Clock = { timer: ReturnType<typeof setInterval>; listeners: Set<(now: Date) => void> };

/** One timer per interval in use. */
const clocks = new Map<number, Clock>();

/** Returns the current time, updated every `everyMs`. Callers with the same interval share a timer. */
export function useNow(everyMs: number): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => listen(everyMs, setNow), [everyMs]);
  return now;
}

function listen(everyMs: number, listener: (now: Date) => void): () => void {
  const clock = clocks.get(everyMs) ?? begin(everyMs);
  clock.listeners.add(listener);
  return () => {
    clock.listeners.delete(listener);
    if (clock.listeners.size > 0) return;
    clearInterval(clock.timer);
    clocks.delete(everyMs);
  };
}

function begin(everyMs: number): Clock {
  const listeners: Clock['listeners'] = new Set();
  const tick = () => {
    const now = new Date();
    for (const listener of listeners) listener(now);
  };
  const clock = { listeners, timer: setInterval(tick, everyMs) };
  clocks.set(everyMs, clock);
  return clock;
}
