import { expect, test } from 'vitest';
import { pointsPerMinute } from './points-per-minute.ts';

const point = (at: string) => ({
  at,
  requests: 2,
  errors: 0,
  prompt_tokens: 10,
  completion_tokens: 20,
  time_to_first_token_ms_p50: 100,
  latency_ms_p50: 200,
  latency_ms_p95: 300,
  tokens_per_second: 40,
});
const seconds = (at: string) => Date.parse(at) / 1000;

test('plots a request at its minute of the current hour', () => {
  const asked = point('2026-01-01T10:32:00.000Z');
  const { x, minutes } = pointsPerMinute([asked], Date.parse('2026-01-01T10:40:59.000Z'));
  expect(x).toHaveLength(61);
  expect(x[0]).toBe(seconds('2026-01-01T09:40:00Z'));
  expect(x.at(-1)).toBe(seconds('2026-01-01T10:40:00Z'));
  expect(minutes.filter(Boolean)).toEqual([asked]);
  expect(minutes[x.indexOf(seconds(asked.at))]).toBe(asked);
});

test('keeps points outside the hour if the clocks differ', () => {
  const asked = point('2026-01-01T10:32:00.000Z');
  expect(pointsPerMinute([asked], Date.parse('2026-01-01T10:30:00Z')).minutes.at(-1)).toBe(asked);
  expect(pointsPerMinute([asked], Date.parse('2026-01-01T11:40:00Z')).minutes[0]).toBe(asked);
});
