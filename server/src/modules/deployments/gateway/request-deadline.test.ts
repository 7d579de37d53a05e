import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AppError } from '../../../platform/errors.ts';
import { requestDeadline } from './request-deadline.ts';

const MINUTE_MS = 60_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

it('ends what makes no progress for three minutes', () => {
  const deadline = requestDeadline('bread');
  deadline.progress();
  vi.advanceTimersByTime(3 * MINUTE_MS - 1);
  deadline.progress();
  vi.advanceTimersByTime(3 * MINUTE_MS - 1);
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.signal.reason).toBeInstanceOf(AppError);
  expect(deadline.signal.reason).toMatchObject({
    code: 'timed_out',
    publicMessage: 'bread wrote nothing for 3 minutes. Try again',
  });
  deadline.stop();
});

it('does not count the time in which nothing is expected of the model server', () => {
  const deadline = requestDeadline('bread');
  vi.advanceTimersByTime(4 * MINUTE_MS);
  deadline.progress();
  deadline.rest();
  vi.advanceTimersByTime(4 * MINUTE_MS);
  expect(deadline.signal.aborted).toBe(false);
  deadline.stop();
});

it('ends what has taken half an hour, however steadily it gets on', () => {
  const deadline = requestDeadline('bread');
  for (let minute = 1; minute < 30; minute += 1) {
    vi.advanceTimersByTime(MINUTE_MS);
    deadline.progress();
  }
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(MINUTE_MS);
  expect(deadline.signal.reason).toMatchObject({
    code: 'timed_out',
    publicMessage: expect.stringContaining('30 minutes'),
  });
  deadline.stop();
});

it('ends nothing that has stopped', () => {
  const deadline = requestDeadline('bread');
  deadline.progress();
  deadline.stop();
  expect(vi.getTimerCount()).toBe(0);
  expect(deadline.signal.aborted).toBe(false);
});
