import { expect, test } from 'vitest';
import { newestGaplessSpan } from './read-machines.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
const span = (since: number, until: number) => ({ since: at(since), until: at(until) });

test('listening is unbroken if spans of processes follow each other', () => {
  expect(newestGaplessSpan([])).toBeNull();
  expect(newestGaplessSpan([span(0, 100)])).toEqual(span(0, 100));
  expect(newestGaplessSpan([span(90, 300), span(0, 100)])).toEqual(span(0, 300));
  // A span that starts within the time between two heartbeats.
  expect(newestGaplessSpan([span(0, 100), span(106, 300)])).toEqual(span(0, 300));
  expect(newestGaplessSpan([span(0, 100), span(107, 300)])).toEqual(span(107, 300));
  // A process that starts a new span does not break the span of another one.
  expect(newestGaplessSpan([span(200, 300), span(0, 299)])).toEqual(span(0, 300));
});
