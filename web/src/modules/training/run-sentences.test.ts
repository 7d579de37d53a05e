import { expect, it } from 'vitest';
import { timeSentence } from './run-sentences.ts';

it('tells the time so far and the time left', () => {
  const started_at = '2026-01-01T00:00:00.000Z';
  expect(timeSentence({ elapsed_seconds: 125, remaining_seconds: 40, started_at })).toBe(
    '2 min 5 s so far, about 40 s left',
  );
  expect(timeSentence({ elapsed_seconds: 5, remaining_seconds: null, started_at })).toBe('5 s so far');
  expect(timeSentence({ elapsed_seconds: 0, remaining_seconds: null, started_at: null })).toBe(
    'Not started yet',
  );
});
