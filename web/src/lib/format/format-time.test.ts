import { expect, test } from 'vitest';
import { aboutDuration, dayHeading, endOfDay, formatDuration, relativeTime } from './format-time.ts';

const now = new Date(2026, 10, 20, 0, 30);

test('days are relative to the user’s midnight', () => {
  expect(dayHeading(new Date(2026, 10, 20, 0, 1), now)).toBe('Today');
  expect(dayHeading(new Date(2026, 10, 19, 23, 59), now)).toBe('Yesterday');
  expect(dayHeading(new Date(2026, 10, 18, 23, 59), now)).toMatch(/Wednesday,? 18 November 2026/);
});

test('a day ends just before the user’s midnight', () => {
  expect(endOfDay('2026-11-20')).toEqual(new Date(2026, 10, 20, 23, 59, 59));
});

test('relative time', () => {
  const before = (seconds: number) => relativeTime(new Date(now.getTime() - seconds * 1000), now);
  expect(before(20)).toBe('Just now');
  expect(before(60)).toBe('1 minute ago');
  expect(before(3 * 3600)).toBe('3 hours ago');
  expect(before(50 * 3600)).toBe('2 days ago');
});

test('durations', () => {
  expect([0.4, 45, 60, 200, 3600, 7500].map(formatDuration)).toEqual([
    '0 s',
    '45 s',
    '1 min',
    '3 min 20 s',
    '1 h',
    '2 h 5 min',
  ]);
});

test('estimates are rounded to a realistic precision', () => {
  expect([4, 44, 58, 203, 1_470, 5_500, 43_900].map(aboutDuration)).toEqual([
    'a few seconds',
    'about 40 s',
    'about 1 min',
    'about 3 min',
    'about 25 min',
    'about 1 h 30 min',
    'about 12 h',
  ]);
});
