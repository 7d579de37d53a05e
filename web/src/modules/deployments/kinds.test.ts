import { expect, test } from 'vitest';
import { pollMsOf, statusWord } from './kinds.ts';

const NOW = Date.parse('2026-01-01T12:00:00Z');
const made = (status: 'deploying' | 'running' | 'failed', minutesAgo: number) => ({
  kind: 'flux' as const,
  status,
  created_at: new Date(NOW - minutesAgo * 60_000).toISOString(),
});

test('polls a deployment until it runs or fails, for at most ten minutes', () => {
  expect(pollMsOf([], NOW)).toBe(false);
  expect(pollMsOf([made('running', 1), made('failed', 1)], NOW)).toBe(false);
  expect(pollMsOf([made('running', 1), made('deploying', 9.9)], NOW)).toBe(10_000);
  expect(pollMsOf([made('deploying', 10)], NOW)).toBe(false);
  expect(pollMsOf([made('deploying', 1), { ...made('deploying', 1), kind: 'flux-kontext' }], NOW)).toBe(
    5_000,
  );
});

test('shows a READY deployment as sleeping', () => {
  expect(statusWord('READY')).toBe('sleeping');
  expect(statusWord('running')).toBe('running');
});
