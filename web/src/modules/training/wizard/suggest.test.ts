import { expect, it } from 'vitest';
import { onlyOne, suggestBaseModelType, suggestFile } from './suggest.ts';

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

it.each([
  [{ model_type: 'llama' }, 'llama3'],
  [{ model_type: 'qwen3' }, 'qwen'],
  [{ model_type: 'mistral' }, undefined],
  [{ model_type: 3 }, undefined],
  [null, undefined],
])('a model whose config.json is %j is a %s', (config, type) => {
  expect(suggestBaseModelType(config)).toBe(type);
});
