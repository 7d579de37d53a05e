import { expect, it } from 'vitest';
import { LOST_AFTER_MS } from '../../../engine/machines/heartbeat-loop.ts';
import { gatewayPresence } from './gateway-presence.ts';

const never = new AbortController().signal;
let time = 0;
/** When the other process was last seen; null if there is none. */
let lastSeenMs: number | null = null;
const join = () => {
  const beat = async () => {
    const made = {
      notedAt: time,
      lookedAt: time,
      others: { count: lastSeenMs === null ? 0 : 1, lastSeenMs, asked: {} },
    };
    presence.onBeat(made);
    return made;
  };
  const presence = gatewayPresence({ beat, goneMs: LOST_AFTER_MS, now: () => time });
  return { ...presence, beat };
};

it('knows that it is the only process, until its heartbeat is old or another process joins', async () => {
  const first = join();
  expect(first.alone()).toBeNull();
  await first.settled(never);
  const epoch = first.alone();
  expect(epoch).not.toBeNull();
  time += 5_000;
  expect(first.alone()).toBe(epoch);
  time += 1_000;
  expect(first.alone()).toBeNull();

  // After a long suspend, the process sends a heartbeat before any request, and no longer trusts what it
  // knew.
  time += 60_000;
  await first.settled(never);
  expect(first.alone()).toBeGreaterThan(epoch ?? 0);

  // The second process must not send requests before the first one knows about it.
  lastSeenMs = 0;
  const second = join();
  const gone = new AbortController();
  const settled = second.settled(gone.signal);
  gone.abort(new Error('not yet'));
  await expect(settled).rejects.toThrow();
  expect(second.alone()).toBeNull();
  await first.beat();
  expect(first.alone()).toBeNull();
});
