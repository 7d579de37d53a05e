import { expect, test } from 'vitest';
import { parseCreatePanel } from './create-panel.ts';

test('keeps what belongs to a sheet and drops the rest', () => {
  expect(
    parseCreatePanel({ create: 'model', dataset: 'd1', dataFile: 'a.csv', baseModel: 'm1', other: 1 }),
  ).toEqual({
    create: 'model',
    dataset: 'd1',
    dataFile: 'a.csv',
    baseModel: 'm1',
  });
  expect(parseCreatePanel({ create: 'model', modelType: 'finetune' })).toEqual({
    create: 'model',
    modelType: 'finetune',
  });
  expect(parseCreatePanel({ create: 'model', modelType: 'castle' })).toEqual({ create: 'model' });
  expect(parseCreatePanel({ create: 'dataset' })).toEqual({ create: 'dataset' });
  expect(parseCreatePanel({ create: 'castle', dataset: 'd1' })).toEqual({});
  expect(parseCreatePanel({ create: 'model', dataset: 7 })).toEqual({ create: 'model' });
});
