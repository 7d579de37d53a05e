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

it('ends a request without progress for three minutes', () => {
  const deadline = requestDeadline('bread', 'text');
  deadline.progress();
  vi.advanceTimersByTime(3 * MINUTE_MS - 1);
  deadline.progress();
  vi.advanceTimersByTime(3 * MINUTE_MS - 1);
  expect(deadline.signal.aborted).toBe(false);
  expect(deadline.isOurs()).toBe(false);
  vi.advanceTimersByTime(1);
  expect(deadline.isOurs()).toBe(true);
  expect(deadline.signal.reason).toBeInstanceOf(AppError);
  expect(deadline.signal.reason).toMatchObject({
    code: 'timed_out',
    publicMessage: 'bread wrote nothing for 3 minutes. Try again',
    shouldRetry: true,
  });
  deadline.stop();
});

it('does not count time in which the model server has nothing to do', () => {
  const deadline = requestDeadline('bread', 'text');
  vi.advanceTimersByTime(4 * MINUTE_MS);
  deadline.progress();
  deadline.rest();
  vi.advanceTimersByTime(4 * MINUTE_MS);
  expect(deadline.signal.aborted).toBe(false);
  deadline.stop();
});

it('ends a request after half an hour despite steady progress', () => {
  const deadline = requestDeadline('bread', 'text');
  for (let minute = 1; minute < 30; minute += 1) {
    vi.advanceTimersByTime(MINUTE_MS);
    deadline.progress();
  }
  expect(deadline.signal.aborted).toBe(false);
  vi.advanceTimersByTime(MINUTE_MS);
  expect(deadline.signal.reason).toMatchObject({
    code: 'timed_out',
    publicMessage: expect.stringContaining('30 minutes'),
    shouldRetry: false,
  });
  vi.advanceTimersByTime(3 * MINUTE_MS);
  expect(deadline.isOurs()).toBe(false);
  deadline.stop();
});

it("says 'generated' instead of 'wrote' if the model makes pictures", () => {
  const [still, slow] = [requestDeadline('bread', 'image'), requestDeadline('bread', 'image')];
  still.progress();
  vi.advanceTimersByTime(30 * MINUTE_MS);
  expect(still.signal.reason).toMatchObject({
    publicMessage: 'bread generated nothing for 3 minutes. Try again',
  });
  expect(slow.signal.reason).toMatchObject({
    publicMessage: 'bread did not finish the picture within 30 minutes. Ask for fewer steps',
  });
  still.stop();
  slow.stop();
});

it('never aborts after it was stopped', () => {
  const deadline = requestDeadline('bread', 'text');
  deadline.progress();
  deadline.stop();
  expect(vi.getTimerCount()).toBe(0);
  expect(deadline.signal.aborted).toBe(false);
});

it.each(['before', 'after'])('expires on a shutdown that begins %s the request', (when) => {
  const closing = new AbortController();
  const reason = new Error('The server is stopping');
  if (when === 'before') closing.abort(reason);
  const deadline = requestDeadline('bread', 'text', { closing: closing.signal });
  closing.abort(reason);
  expect(deadline.signal.reason).toBe(reason);
  expect(deadline.isOurs()).toBe(true);
  deadline.stop();
});
