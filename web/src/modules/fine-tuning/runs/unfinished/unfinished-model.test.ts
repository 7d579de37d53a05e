import { expect, it } from 'vitest';
import { unfinishedText } from './unfinished-model.ts';

it('announces the model only while its run is active', () => {
  expect(unfinishedText({ state: 'running', reason: '', resume_hold: null }).description).toContain(
    'when the run has finished',
  );
  expect(
    unfinishedText({ state: 'cancelled', reason: 'Cancelled by you.', resume_hold: '1' }).description,
  ).toContain('was cancelled');
  expect(
    unfinishedText({ state: 'failed', reason: 'Out of memory.', resume_hold: '1' }).description,
  ).toContain('failed before it produced any files: Out of memory. Resume');
  // Its work was deleted.
  const gone = { state: 'failed', reason: 'Out of memory.', resume_hold: null } as const;
  expect(unfinishedText(gone).description).not.toContain('Resume the run');
});
