import { expect, test } from 'vitest';
import { countOf } from './count-of.ts';

test('one is singular, all other counts are plural', () => {
  expect([0, 1, 1_200].map((count) => countOf(count, 'row'))).toEqual(['0 rows', '1 row', '1,200 rows']);
  expect(countOf(2, 'copy', 'copies')).toBe('2 copies');
});
