import type pg from 'pg';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { openDatabaseClock } from './database-clock.ts';

test("returns the database's time, notices changes, and continues during a database outage", async () => {
  // Fake only what the clock uses: other test files of this worker may have timers.
  vi.useFakeTimers({
    now: new Date('2026-01-01T00:00:00Z'),
    toFake: ['Date', 'setInterval', 'clearInterval'],
  });
  let aheadMs = 60_000;
  const query = vi.fn(async () => ({ rows: [{ now: new Date(Date.now() + aheadMs) }] }));
  const { clock, close } = await openDatabaseClock(
    { query } as unknown as pg.Pool,
    pino({ level: 'silent' }),
  );
  expect(clock.now()).toEqual(new Date('2026-01-01T00:01:00Z'));

  aheadMs = -5_000;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(clock.now()).toEqual(new Date('2026-01-01T00:00:05Z'));

  query.mockRejectedValue(new Error('away'));
  await vi.advanceTimersByTimeAsync(20_000);
  expect(clock.now()).toEqual(new Date('2026-01-01T00:00:25Z'));
  close();
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});
