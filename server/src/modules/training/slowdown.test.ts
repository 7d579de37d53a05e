import { expect, test } from 'vitest';
import { expectedSlowdown, measuredSlowdown } from './slowdown.ts';

const two = { cores: 2, runThreads: 2 };

test.each([
  ['an idle machine', { ...two, busyThreads: 0 }, { atWork: 0, slots: 1 }, 1],
  ['ten threads of others', { ...two, busyThreads: 10 }, { atWork: 0, slots: 1 }, 6],
  ['a run that it waits for', { ...two, busyThreads: 2 }, { atWork: 1, slots: 1 }, 1],
  ['a run beside which there is a slot', { ...two, busyThreads: 2 }, { atWork: 1, slots: 2 }, 2],
  ['a run that it waits for, and others', { ...two, busyThreads: 5 }, { atWork: 1, slots: 1 }, 2.5],
  ['a run that has only begun', { ...two, busyThreads: 0.5 }, { atWork: 1, slots: 1 }, 1],
  ['others that leave room', { cores: 64, runThreads: 2, busyThreads: 30 }, { atWork: 0, slots: 1 }, 1],
  ['more than anybody could tell', { ...two, busyThreads: 900 }, { atWork: 0, slots: 1 }, 20],
])('estimates the slowdown next to %s', (_name, load, runs, expected) => {
  expect(expectedSlowdown(load, runs)).toBe(expected);
});

test("excludes an ended run's own threads from the load", () => {
  expect(measuredSlowdown({ ...two, busyThreads: 2 }, 3600)).toBeCloseTo(1);
  expect(measuredSlowdown({ ...two, busyThreads: 12 }, 3600)).toBeCloseTo(6);
  // In such a short time the load average has not adapted yet.
  expect(measuredSlowdown({ ...two, busyThreads: 0.2 }, 6)).toBeCloseTo(1, 1);
});
