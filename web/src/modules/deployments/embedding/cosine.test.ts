import { expect, it } from 'vitest';
import { cosine } from './cosine.ts';

it.each([
  [[1, 0], [2, 0], 1],
  [[1, 0], [0, 3], 0],
  [[1, 1], [-1, -1], -1],
  [[0, 0], [1, 0], 0],
])('of %j and %j is %d', (one, other, expected) => {
  expect(cosine(one, other)).toBeCloseTo(expected, 10);
});
