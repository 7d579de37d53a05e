import { expect, test } from 'vitest';
import { parseSheetSearch, sheetOf } from './sheet.ts';

test('keeps what belongs to a sheet and drops the rest', () => {
  const search = {
    sheet: 'create-model',
    'sheet.dataset': 'd1',
    'sheet.round': 7,
    dataset: 'd2',
    tab: 'files',
  };
  expect(parseSheetSearch(search)).toEqual({ sheet: 'create-model', 'sheet.dataset': 'd1' });
  expect(parseSheetSearch({ 'sheet.dataset': 'd1' })).toEqual({});
});

test('tells which sheet is open, and with what', () => {
  expect(sheetOf({ sheet: 'create-model', 'sheet.dataset': 'd1', tab: 'files' })).toEqual({
    name: 'create-model',
    params: { dataset: 'd1' },
  });
  expect(sheetOf({ tab: 'files' })).toBeNull();
});
