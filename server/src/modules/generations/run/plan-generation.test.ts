import { expect, test } from 'vitest';
import { conflict, internalError, invalidRequest, timedOut, unavailable } from '../../../platform/errors.ts';
import { planAfterFailure, planLeased } from './plan-generation.ts';

const now = new Date('2026-01-01T00:00:00Z');
const away = unavailable('The model does not answer. Try again');
const BUSY = 'fal is busy. Trying again';
const busy = (retryAfterMs: number) => unavailable('fal is busy', { retryAfterMs });
const refused = invalidRequest('The prompt is too long.');

test('a picture has three attempts', () => {
  const turn = (attempt: number) => planLeased({ attempt, created_at: now }, now).do;
  expect([0, 1, 2, 3].map(turn)).toEqual(['generate', 'generate', 'generate', 'fail']);
});

test.each([
  [
    1,
    away,
    {
      do: 'wait',
      at: new Date('2026-01-01T00:00:03Z'),
      reason: 'The model does not answer. Trying again',
      attempt: 1,
    },
  ],
  [
    2,
    away,
    {
      do: 'wait',
      at: new Date('2026-01-01T00:00:06Z'),
      reason: 'The model does not answer. Trying again',
      attempt: 2,
    },
  ],
  [3, away, { do: 'fail', reason: 'The model does not answer', refused: false }],
  [1, refused, { do: 'fail', reason: 'The prompt is too long', refused: true }],
  [1, busy(30_000), { do: 'wait', at: new Date('2026-01-01T00:00:30Z'), reason: BUSY, attempt: 0 }],
  [3, busy(0), { do: 'wait', at: new Date('2026-01-01T00:00:03Z'), reason: BUSY, attempt: 2 }],
  [
    1,
    internalError("fal does not accept this server's key"),
    { do: 'fail', reason: "fal does not accept this server's key", refused: false },
  ],
  [
    1,
    timedOut('fal did not finish within 10 minutes', { shouldRetry: false }),
    { do: 'fail', reason: 'fal did not finish within 10 minutes', refused: false },
  ],
  [
    1,
    conflict('The model is being replaced'),
    {
      do: 'wait',
      at: new Date('2026-01-01T00:00:03Z'),
      reason: 'The model is being replaced. Trying again',
      attempt: 1,
    },
  ],
  [
    3,
    new Error('a fault of this program'),
    { do: 'fail', reason: 'Something went wrong while it was being generated', refused: false },
  ],
])('after attempt %i: %s', (attempt, error, step) => {
  expect(planAfterFailure({ attempt, started_at: now }, error, now)).toEqual(step);
});

test('does not count attempts during an hour of retry-after, and counts them afterwards', () => {
  const after = (minutes: number) =>
    planAfterFailure({ attempt: 3, started_at: new Date(now.getTime() - minutes * 60_000) }, busy(0), now);
  expect([after(59), after(61)]).toMatchObject([{ do: 'wait', attempt: 2 }, { do: 'fail' }]);
});

test('the pause before a counted attempt is at least retry-after', () => {
  const earlier = new Date(now.getTime() - 2 * 60 * 60_000);
  expect(planAfterFailure({ attempt: 1, started_at: earlier }, busy(60_000), now)).toMatchObject({
    at: new Date('2026-01-01T00:01:00Z'),
    attempt: 1,
  });
});
