import { expect, test } from 'vitest';
import { axisDecimals } from './axis-decimals.ts';

test.each([
  [20, 0],
  [1, 0],
  [2.5, 1],
  [0.5, 1],
  [0.25, 2],
  [0.1 + 0.2, 1],
  [0.005, 3],
  [0.0000001, 7],
])('labels %s apart have %s decimals', (step, places) => {
  expect(axisDecimals(step)).toBe(places);
});
