import type { FoundRows } from '@bakehouse/contract/data-files';
import { expect, test } from 'vitest';
import { mergeFoundRows } from './merge-found-rows.ts';

const look: FoundRows = {
  ...{ columns: ['name'], column_count: 1, rows: [['rye']], at: [3], format: null, conversations: [] },
  ...{ rows_read: 10, is_whole: false, next_offset: 10 },
};

test('appends later results; columns that are new in them are empty in earlier rows', () => {
  const later = { ...look, columns: ['name', 'grams'], column_count: 2, rows: [['spelt', 7]], at: [12] };
  expect(mergeFoundRows([look, { ...later, rows_read: 20, is_whole: true, next_offset: null }])).toEqual({
    ...{ columns: ['name', 'grams'], column_count: 2, format: null, conversations: [] },
    rows: [
      ['rye', null],
      ['spelt', 7],
    ],
    ...{ at: [3, 12], rows_read: 20, is_whole: true, next_offset: null },
  });
});
