import { expect, test } from 'vitest';
import { toggleCompared } from './toggle-compared.ts';

test('two are compared; a third takes the place of the first', () => {
  expect(toggleCompared([], 'a', true)).toEqual(['a']);
  expect(toggleCompared(['a', 'b'], 'c', true)).toEqual(['b', 'c']);
  expect(toggleCompared(['a', 'b'], 'a', false)).toEqual(['b']);
});
