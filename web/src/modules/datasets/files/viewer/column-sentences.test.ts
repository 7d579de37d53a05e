import type { ColumnStatistics } from '@bakehouse/contract/data-files';
import { expect, test } from 'vitest';
import { binText, distinctText, filledText, filterText, rangeText, shortNumber } from './column-sentences.ts';

test.each([
  [1234.5678, '1,234.57'],
  [0.12345, '0.1235'],
  [0, '0'],
  [-12.5, '−12.5'],
  [-2.5e15, '−2.50e+15'],
  [0.00001, '1.00e−5'],
])('%d is shown as %s', (value, text) => {
  expect(shortNumber(value)).toBe(text);
});

test.each([
  [4, 4, '100%'],
  [3, 4, '75%'],
  [99_999, 100_000, 'over 99.9%'],
  [1, 100_000, 'under 0.1%'],
  [0, 100_000, '0%'],
  [0, 0, '–'],
])('%i of %i rows are %s', (filled, rows, text) => {
  expect(filledText({ filled }, rows)).toBe(text);
});

test('a range has its unit, and a column without a range its number of values', () => {
  const column: ColumnStatistics = {
    name: 'a',
    type: 'list',
    filled: 20_000,
    nulls: 0,
    distinct: 12_345,
    distinct_is_more: true,
    numbers: null,
    lengths: { min: 2, max: 2, mean: 2, median: 2, std: 0 },
    histogram: [],
    frequent: [],
  };
  expect(rangeText(column)).toBe('2 items');
  expect(rangeText({ ...column, type: 'boolean', lengths: null })).toBe('about 12,000 values');
  // An estimate never exceeds the number of rows.
  expect(distinctText({ ...column, distinct: 19_999, filled: 19_999 })).toBe('about 19,999 values');
  expect(rangeText({ ...column, type: 'empty', lengths: null })).toBe('empty');
  const frequent = ['rye', 'wheat'].map((value) => ({ value, count: 2 }));
  expect(rangeText({ ...column, type: 'text', distinct: 2, distinct_is_more: false, frequent })).toBe(
    '2 values',
  );
  expect(rangeText({ ...column, type: 'text', distinct: 3, distinct_is_more: false, frequent })).toBe(
    '2 characters',
  );
  expect(binText({ type: 'number' }, { from: 0.5, to: 2, count: 1 })).toBe('0.5 to 2: 1 row');
});

test.each([
  [{ of: 'value', min: 0, max: 7 }, 'n: 0 to 7'],
  [{ of: 'value', min: 3, max: 3 }, 'n: 3'],
  [{ of: 'length', min: 12, max: 40 }, 'n: 12 to 40 long'],
  [{ of: 'value', value: 'rye' }, 'n: rye'],
  [{ of: 'nothing' }, 'n: empty'],
] as const)('the filter %j is labelled %s', (filter, text) => {
  expect(filterText({ column: 'n', ...filter })).toBe(text);
});
