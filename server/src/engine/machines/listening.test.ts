import { expect, test } from 'vitest';
import { newestGaplessSpan } from './read-machines.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const span = (since: number, until: number) => ({ since: at(since), until: at(until) });

test('spans of several processes form one gapless period if they overlap or follow each other closely', () => {
  expect(newestGaplessSpan([])).toBeNull();
  expect(newestGaplessSpan([span(0, 100)])).toEqual(span(0, 100));
  expect(newestGaplessSpan([span(90, 300), span(0, 100)])).toEqual(span(0, 300));
  // A gap as short as the time between two heartbeats does not count.
  expect(newestGaplessSpan([span(0, 100), span(106, 300)])).toEqual(span(0, 300));
  expect(newestGaplessSpan([span(0, 100), span(107, 300)])).toEqual(span(107, 300));
  // The new span of one process is covered by the longer span of another.
  expect(newestGaplessSpan([span(200, 300), span(0, 299)])).toEqual(span(0, 300));
});
