import { expect, it } from 'vitest';
import { judgeFailure } from './judge-failure.ts';

const proven = { proven: true, neverSleeps: false, failed: true, served: false };
const untried = { proven: false, neverSleeps: false, failed: true, served: false };

it('ends what has never answered, and lets sleep what has, unless it never sleeps', () => {
  const waiting = { ...proven, neverSleeps: true };
  const untriedToo = { ...untried, neverSleeps: true };
  expect(judgeFailure([proven, untried, waiting, untriedToo])).toEqual({
    ended: [untried, untriedToo],
    asleep: [proven],
    waiting: [waiting],
  });
});

it('leaves alone who is served by a workload that is up, and whom the failed one was not to carry', () => {
  const served = { ...untried, served: true };
  const other = { ...untried, failed: false };
  expect(judgeFailure([served, other])).toEqual({ ended: [], asleep: [], waiting: [] });
});
