import type { Run } from '@bakehouse/contract/training';
import { expect, it } from 'vitest';
import { runOfModel, unfinishedText } from './unfinished-model.ts';

it('finds the run of an empty model only', () => {
  const runs = [{ run_id: 'r', model_id: 'm' } as Run];
  expect(runOfModel({ dataset_id: 'm', file_count: 0 }, runs)?.run_id).toBe('r');
  expect(runOfModel({ dataset_id: 'm', file_count: 3 }, runs)).toBeUndefined();
  expect(runOfModel({ dataset_id: 'other', file_count: 0 }, runs)).toBeUndefined();
  expect(runOfModel({ dataset_id: 'm', file_count: 0 }, undefined)).toBeUndefined();
});

it('promises a model only while one is being made', () => {
  expect(unfinishedText({ state: 'running', reason: '' }).description).toContain('when the run has finished');
  expect(unfinishedText({ state: 'cancelled', reason: 'Cancelled by you.' }).description).toContain(
    'was cancelled',
  );
  expect(unfinishedText({ state: 'failed', reason: 'Out of memory.' }).description).toContain(
    'failed before it had made any files: Out of memory. Resume',
  );
});
