import { DEFAULT_PROMPT } from '@bakehouse/contract/drafts';
import { expect, test } from 'vitest';
import { initialSettings, problemsOf } from './settings-form.ts';

const first = initialSettings(null, ['mine', 'starter']);

test("the form starts with the first model and the defaults, or with the draft's settings", () => {
  expect(first).toMatchObject({ model: 'mine', rows_per_chunk: 3, prompt: DEFAULT_PROMPT });
  expect(Object.values(problemsOf(first)).filter(Boolean)).toEqual([]);
  const before = { ...first, model: 'starter', rows_per_chunk: 7 };
  expect(initialSettings(before, ['mine', 'starter'])).toEqual(before);
  expect(initialSettings(before, ['mine'])).toEqual({ ...before, model: 'mine' });
});

test('reports at the field what the server would reject', () => {
  expect(problemsOf({ ...first, model: '' }).model).toBe('Choose a model');
  expect(problemsOf({ ...first, rows_per_chunk: Number.NaN }).rows_per_chunk).toContain('Rows per chunk');
  expect(problemsOf({ ...first, overlap_characters: 1_001 }).overlap_characters).toContain('at most half');
  expect(problemsOf({ ...first, prompt: 'Write' }).prompt).toContain('{{text}}');
});
