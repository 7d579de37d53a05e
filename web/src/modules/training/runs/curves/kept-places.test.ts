import { expect, it } from 'vitest';
import { keptPlaces } from './kept-places.ts';

it('remaining ids keep their place, and new ones take the first free place', () => {
  const three = keptPlaces([], ['a', 'b', 'c']);
  expect(three).toEqual(['a', 'b', 'c']);
  const two = keptPlaces(three, ['b', 'c']);
  expect(two).toEqual([null, 'b', 'c']);
  expect(keptPlaces(two, ['b', 'c', 'd', 'e'])).toEqual(['d', 'b', 'c', 'e']);
});
