import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { watchModelServer } from './watch-model-server.ts';

test('who waits for a model server hears of a change at once, and looks seldom by itself', async () => {
  const listeners = new Set<() => void>();
  const onSignal = (_name: string, listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const { signal } = new AbortController();
  const watch = watchModelServer({ onSignal }, 's1');
  let looks = 0;
  const waiting = watch.change(signal).then(() => (looks += 1));
  // Once in three seconds, where it was twenty times in each.
  await pause(500);
  expect(looks).toBe(0);
  for (const listener of listeners) listener();
  await waiting;
  expect(looks).toBe(1);
  watch.stop();
  expect(listeners.size).toBe(0);
});
