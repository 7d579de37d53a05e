import { expect, test } from 'vitest';
import { expectedSlowdown, measuredSlowdown } from './slowdown.ts';

const two = { cores: 2, runThreads: 2 };

test.each([
  ['an idle machine', { ...two, busyThreads: 0 }, { atWork: 0, slots: 1 }, 1],
  ['ten other threads', { ...two, busyThreads: 10 }, { atWork: 0, slots: 1 }, 6],
  ['a run ahead in the queue', { ...two, busyThreads: 2 }, { atWork: 1, slots: 1 }, 1],
  ['a run next to a free slot', { ...two, busyThreads: 2 }, { atWork: 1, slots: 2 }, 2],
  ['a run ahead in the queue and other threads', { ...two, busyThreads: 5 }, { atWork: 1, slots: 1 }, 2.5],
  ['a run that has just started', { ...two, busyThreads: 0.5 }, { atWork: 1, slots: 1 }, 1],
  [
    'other threads that leave cores free',
    { cores: 64, runThreads: 2, busyThreads: 30 },
    { atWork: 0, slots: 1 },
    1,
  ],
  ['a load above the maximum', { ...two, busyThreads: 900 }, { atWork: 0, slots: 1 }, 20],
])('estimates the slowdown with %s', (_name, load, runs, expected) => {
  expect(expectedSlowdown(load, runs)).toBe(expected);
});

test("does not count the ended run's own threads", () => {
  expect(measuredSlowdown({ ...two, busyThreads: 2 }, 3600)).toBeCloseTo(1);
  expect(measuredSlowdown({ ...two, busyThreads: 12 }, 3600)).toBeCloseTo(6);
  // After six seconds, the load average hardly includes the run's threads.
  expect(measuredSlowdown({ ...two, busyThreads: 0.2 }, 6)).toBeCloseTo(1, 1);
});
