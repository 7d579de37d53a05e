import { expect, it } from 'vitest';
import { onlyOne, suggestFile } from './suggest.ts';

it('takes the one that there is', () => {
  expect(onlyOne([{ dataset_id: 'a' }])).toBe('a');
  expect(onlyOne([])).toBeUndefined();
  expect(onlyOne([{ dataset_id: 'a' }, { dataset_id: 'b' }])).toBeUndefined();
});

it('takes the file that the person came from, else the only one', () => {
  const files = [{ path: 'a.csv' }, { path: 'b.csv' }];
  expect(suggestFile(files, 'b.csv')).toBe('b.csv');
  expect(suggestFile(files, 'gone.csv')).toBeUndefined();
  expect(suggestFile(files, undefined)).toBeUndefined();
  expect(suggestFile([{ path: 'a.csv' }], 'gone.csv')).toBe('a.csv');
  // Of more files than are listed, the wanted one may be any, and none is the only one.
  expect(suggestFile([{ path: 'a.csv' }], 'late.csv', true)).toBe('late.csv');
  expect(suggestFile([{ path: 'a.csv' }], undefined, true)).toBeUndefined();
});
