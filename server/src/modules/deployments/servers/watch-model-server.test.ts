import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchModelServer } from './watch-model-server.ts';

test('a request that waits for a model server is notified immediately, and polls only rarely', async () => {
  const listeners = new Set<() => void>();
  const onSignal = (_name: string, listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const { signal } = new AbortController();
  const watch = watchModelServer({ onSignal }, 's1');
  let looks = 0;
  const waiting = watch.change(signal).then(() => (looks += 1));
  // Only one poll in three seconds, instead of twenty per second.
  await pause(500);
  expect(looks).toBe(0);
  for (const listener of listeners) listener();
  await waiting;
  expect(looks).toBe(1);
  watch.stop();
  expect(listeners.size).toBe(0);
});
