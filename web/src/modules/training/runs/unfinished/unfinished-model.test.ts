import { expect, it } from 'vitest';
import { unfinishedText } from './unfinished-model.ts';

it('promises a model only while one is being made', () => {
  expect(unfinishedText({ state: 'running', reason: '' }).description).toContain('when the run has finished');
  expect(unfinishedText({ state: 'cancelled', reason: 'Cancelled by you.' }).description).toContain(
    'was cancelled',
  );
  expect(unfinishedText({ state: 'failed', reason: 'Out of memory.' }).description).toContain(
    'failed before it had made any files: Out of memory. Resume',
  );
});
