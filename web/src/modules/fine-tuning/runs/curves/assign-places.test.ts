import { expect, it } from 'vitest';
import { assignPlaces } from './assign-places.ts';

it('remaining ids keep their place, and new ones take the first free place', () => {
  const three = assignPlaces([], ['a', 'b', 'c']);
  expect(three).toEqual(['a', 'b', 'c']);
  const two = assignPlaces(three, ['b', 'c']);
  expect(two).toEqual([null, 'b', 'c']);
  expect(assignPlaces(two, ['b', 'c', 'd', 'e'])).toEqual(['d', 'b', 'c', 'e']);
});
