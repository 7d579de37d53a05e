import { expect, test } from 'vitest';
import { choose } from './choose.ts';

const shown = ['a', 'b', 'c', 'd'];

test('selects or deselects one more, in display order', () => {
  expect(choose([], { shown, id: 'c', checked: true })).toEqual(['c']);
  expect(choose(['c'], { shown, id: 'a', checked: true })).toEqual(['a', 'c']);
  expect(choose(['a', 'c'], { shown, id: 'a', checked: false })).toEqual(['c']);
});

test('with an anchor, selects or deselects everything between, in both directions', () => {
  expect(choose(['b'], { shown, id: 'd', checked: true, from: 'b' })).toEqual(['b', 'c', 'd']);
  expect(choose(['d'], { shown, id: 'b', checked: true, from: 'd' })).toEqual(['b', 'c', 'd']);
  expect(choose(shown, { shown, id: 'c', checked: false, from: 'a' })).toEqual(['d']);
});

test('deselects pictures that are no longer shown', () => {
  expect(choose(['gone'], { shown, id: 'a', checked: true, from: 'gone' })).toEqual(['a']);
});
