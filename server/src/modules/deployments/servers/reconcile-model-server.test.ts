import { expect, it } from 'vitest';
import { planStartFailure } from './reconcile-model-server.ts';

const proven = { proven: true, neverSleeps: false, failed: true, served: false };
const untried = { proven: false, neverSleeps: false, failed: true, served: false };

it('ends deployments that have never served; others fall asleep, or wait if they never sleep', () => {
  const waiting = { ...proven, neverSleeps: true };
  const untriedToo = { ...untried, neverSleeps: true };
  expect(planStartFailure([proven, untried, waiting, untriedToo])).toEqual({
    ended: [untried, untriedToo],
    asleep: [proven],
    waiting: [waiting],
  });
});

it('leaves deployments that another workload serves, or that the failed workload was not meant to serve', () => {
  const served = { ...untried, served: true };
  const other = { ...untried, failed: false };
  expect(planStartFailure([served, other])).toEqual({ ended: [], asleep: [], waiting: [] });
});
