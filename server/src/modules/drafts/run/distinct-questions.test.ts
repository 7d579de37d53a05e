import { expect, test } from 'vitest';
import { distinctQuestions } from './run-draft.ts';

test('rejects a near-duplicate question', () => {
  const { add } = distinctQuestions(['When does the bakery open on Sundays?']);
  expect(add('when does the bakery open, on sundays')).toBe(false);
  expect(add('When does the old bakery open on Sundays?')).toBe(false);
  expect(add('When does the bakery close on Mondays?')).toBe(true);
  expect(add('When does the bakery close on Mondays')).toBe(false);
  expect(add('Why?')).toBe(true);
});

test('recognises duplicates in scripts without spaces, and among questions of punctuation only', () => {
  const { add } = distinctQuestions([]);
  expect([add('パンは何ですか'), add('パンは何ですか？'), add('酵母は何ですか')]).toEqual([
    true,
    false,
    true,
  ]);
  expect([add('?'), add('?'), add('!')]).toEqual([true, false, true]);
});
