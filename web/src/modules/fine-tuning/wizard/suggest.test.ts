import { expect, it } from 'vitest';
import { idOfOnlyAsset, suggestBaseModelType, suggestFile } from './suggest.ts';

it('suggests the only asset', () => {
  expect(idOfOnlyAsset([{ dataset_id: 'a' }])).toBe('a');
  expect(idOfOnlyAsset([])).toBeUndefined();
  expect(idOfOnlyAsset([{ dataset_id: 'a' }, { dataset_id: 'b' }])).toBeUndefined();
});

it('suggests the file that the wizard was opened for, else the only one', () => {
  const files = [{ path: 'a.csv' }, { path: 'b.csv' }];
  expect(suggestFile(files, 'b.csv')).toBe('b.csv');
  expect(suggestFile(files, 'gone.csv')).toBeUndefined();
  expect(suggestFile(files, undefined)).toBeUndefined();
  expect(suggestFile([{ path: 'a.csv' }], 'gone.csv')).toBe('a.csv');
  // In a truncated list, the requested file may exist, and no file is known to be the only one.
  expect(suggestFile([{ path: 'a.csv' }], 'late.csv', true)).toBe('late.csv');
  expect(suggestFile([{ path: 'a.csv' }], undefined, true)).toBeUndefined();
});

it.each([
  [{ model_type: 'llama' }, 'llama3'],
  [{ model_type: 'qwen3' }, 'qwen'],
  [{ model_type: 'mistral' }, undefined],
  [{ model_type: 3 }, undefined],
  [null, undefined],
])('a model whose config.json is %j is a %s', (config, type) => {
  expect(suggestBaseModelType(config)).toBe(type);
});
