import { expect, it } from 'vitest';
import { endOf } from './use-run-work.ts';

const cancelled = {
  state: 'cancelled',
  title: 'Baker',
  reason: 'Cancelled.',
  stop_reason: null,
  charged: '5',
} as const;

it('tells a run that has reached its ceiling from one that its owner has cancelled', () => {
  expect(endOf(cancelled)).toEqual({
    kind: 'info',
    title: 'Training Baker was cancelled',
    description: 'You were charged $0.20.',
  });
  const reason = 'The run reached its ceiling of 5 BGL. The work was saved.';
  expect(endOf({ ...cancelled, reason, stop_reason: 'ceiling' })).toEqual({
    kind: 'warning',
    title: 'Training Baker stopped at its ceiling',
    description:
      'The run reached its ceiling of $0.20. The work was saved. You were charged $0.20. You can resume it with a higher ceiling.',
  });
});

it('says why a run failed, and what was charged as far as that is known', () => {
  const failed = { ...cancelled, state: 'failed', reason: 'Out of memory.' } as const;
  expect(endOf({ ...failed, charged: '0' })?.description).toBe('Out of memory. You were not charged.');
  expect(endOf({ ...failed, charged: null })?.description).toBe('Out of memory.');
});
