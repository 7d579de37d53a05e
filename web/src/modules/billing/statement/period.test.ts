import { expect, test } from 'vitest';
import { periodProblems, usablePeriod } from './period.ts';

const today = '2026-11-20';
const future = 'Choose today or an earlier day';

test.each([
  [{}, {}],
  [{ from: '2026-11-20', to: '2026-11-20' }, {}],
  [{ from: '2026-11-21' }, { from: future }],
  [{ to: '2099-01-01' }, { to: future }],
  [{ from: '2026-11-19', to: '2026-11-18' }, { from: 'The first day cannot be after the last' }],
  [{ from: '1926-11-19' }, { from: 'Choose a day in 2000 or later' }],
  // While typing the second digit of 2026.
  [{ from: '0020-11-19' }, { from: '' }],
])('%j', (period, problems) => {
  expect(periodProblems(period, today)).toEqual(problems);
});

test('treats invalid days as open', () => {
  expect(usablePeriod({ from: '2026-11-01', to: '2099-01-01' }, today)).toEqual({ from: '2026-11-01' });
  expect(usablePeriod({ from: '2026-11-19', to: '2026-11-18' }, today)).toEqual({ to: '2026-11-18' });
  expect(usablePeriod({ from: '2026-11-18', to: '2026-11-19' }, today)).toEqual({
    from: '2026-11-18',
    to: '2026-11-19',
  });
});
