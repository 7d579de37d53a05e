import { expect, it } from 'vitest';
import { endOf } from './use-run-work.ts';

const cancelled = { state: 'cancelled', title: 'Baker', reason: 'Cancelled', stop_reason: null } as const;

it('tells a run that has reached its ceiling from one that its owner has cancelled', () => {
  expect(endOf(cancelled)).toEqual({ kind: 'info', title: 'Training Baker was cancelled' });
  const reason = 'The run reached its ceiling of 5 BGL. The work was saved.';
  expect(endOf({ ...cancelled, reason, stop_reason: 'ceiling' })).toEqual({
    kind: 'warning',
    title: 'Training Baker stopped at its ceiling',
    description: `${reason} You can resume it with a higher ceiling.`,
  });
});
