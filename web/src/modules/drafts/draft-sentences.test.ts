import type { Draft } from '@bakehouse/contract/drafts';
import { expect, test } from 'vitest';
import { droppedText, endOf, phaseText, titleOf } from './draft-sentences.ts';

const document = (name: string) => ({
  ...{ document_id: name, name, pages: null, empty_pages: 0, characters: 9 },
});
const draft = (more: Partial<Draft> = {}): Draft => ({
  ...{ draft_id: 'd', status: 'running', documents: [document('a.pdf'), document('b.md')], settings: null },
  ...{ chunks: 40, chunks_done: 12, chunks_failed: 0, current_document: 'b.md', rows: 1, rows_saved: 0 },
  ...{
    dropped: {},
    error: null,
    held: '1',
    cost_so_far: '0',
    created_at: '',
    started_at: '',
    ended_at: null,
  },
  ...more,
});

test('names a draft after its documents, and shows its progress', () => {
  expect(titleOf(draft())).toBe('a.pdf and 1 more');
  expect(titleOf({ documents: [document('a.pdf')] })).toBe('a.pdf');
  expect(titleOf({ documents: [] })).toBe('New draft');
  expect(phaseText(draft())).toBe('b.md · chunk 13 of 40 · 1 row');
  expect(phaseText(draft({ status: 'cancelling' }))).toBe('Cancelling');
  expect(endOf(draft())).toBeNull();
});

test('announces the result and its cost', () => {
  expect(endOf(draft({ status: 'completed', rows: 3 }))).toEqual({
    ...{ kind: 'success', title: '3 rows from a.pdf and 1 more', description: 'You were not charged.' },
  });
  const none = draft({ status: 'completed', rows: 0, dropped: { unreadable: 2, duplicate: 1 } });
  expect(endOf(none)).toMatchObject({ kind: 'warning', description: droppedText(none) });
  expect(droppedText(none)).toBe('Skipped: 2 answers had no rows, 1 row repeated another question.');
  const failed = draft({ status: 'failed', error: 'There is no model' });
  expect(endOf(failed)).toMatchObject({
    ...{ kind: 'failure', description: 'There is no model. You were not charged.' },
  });
});
