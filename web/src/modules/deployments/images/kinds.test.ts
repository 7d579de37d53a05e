import { expect, test } from 'vitest';
import { awaitedOf, imageKinds, statusWord } from './kinds.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const made = (status: 'deploying' | 'running' | 'failed', minutesAgo: number) => ({
  status,
  created_at: new Date(NOW - minutesAgo * 60_000).toISOString(),
});

test('a deployment is asked about until it runs or has failed, and for ten minutes at most', () => {
  expect(awaitedOf([], NOW)).toEqual([]);
  expect(awaitedOf([made('running', 1), made('failed', 1)], NOW)).toEqual([]);
  const awaited = made('deploying', 9.9);
  expect(awaitedOf([made('running', 1), awaited], NOW)).toEqual([awaited]);
  expect(awaitedOf([made('deploying', 10)], NOW)).toEqual([]);
  expect(imageKinds.flux.pollMs).toBe(10_000);
  expect(imageKinds['flux-kontext'].pollMs).toBe(5_000);
});

test('one that is READY is shown asleep', () => {
  expect(statusWord('READY')).toBe('sleeping');
  expect(statusWord('running')).toBe('running');
});
