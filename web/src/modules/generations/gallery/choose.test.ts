import { expect, test } from 'vitest';
import { choose } from './choose.ts';

const shown = ['a', 'b', 'c', 'd'];

test('one more is chosen, or no longer, in the order in which they are shown', () => {
  expect(choose([], { shown, id: 'c', checked: true })).toEqual(['c']);
  expect(choose(['c'], { shown, id: 'a', checked: true })).toEqual(['a', 'c']);
  expect(choose(['a', 'c'], { shown, id: 'a', checked: false })).toEqual(['c']);
});

test('with the one before it all between are chosen, or left out, forwards and backwards', () => {
  expect(choose(['b'], { shown, id: 'd', checked: true, from: 'b' })).toEqual(['b', 'c', 'd']);
  expect(choose(['d'], { shown, id: 'b', checked: true, from: 'd' })).toEqual(['b', 'c', 'd']);
  expect(choose(shown, { shown, id: 'c', checked: false, from: 'a' })).toEqual(['d']);
});

test('what is shown no longer is chosen no longer', () => {
  expect(choose(['gone'], { shown, id: 'a', checked: true, from: 'gone' })).toEqual(['a']);
});
