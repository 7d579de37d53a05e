import { expect, it } from 'vitest';
import { judgeFailure } from './judge-failure.ts';

const proven = { proven: true, failed: true, served: false };
const untried = { proven: false, failed: true, served: false };

it('ends what has never answered, and lets sleep what has', () => {
  expect(judgeFailure([proven, untried])).toEqual({ ended: [untried], asleep: [proven] });
});

it('leaves alone who is served by a workload that is up, and whom the failed one was not to carry', () => {
  const served = { ...untried, served: true };
  const other = { ...untried, failed: false };
  expect(judgeFailure([served, other])).toEqual({ ended: [], asleep: [] });
});
