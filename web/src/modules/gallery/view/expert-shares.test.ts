import { expect, test } from 'vitest';
import { expertShares, outlineOf } from './expert-shares.ts';

test('an expert’s share is its mean weight over the steps', () => {
  expect(expertShares([])).toEqual([]);
  expect(
    expertShares([
      [1, 0],
      [0.5, 0.5],
    ]),
  ).toEqual([
    { expert: 0, share: 0.75, weights: [1, 0.5] },
    { expert: 1, share: 0.25, weights: [0, 0.5] },
  ]);
});

test('the outline has one bar per step, as high as its weight', () => {
  expect(outlineOf([1, 0.5], 1)).toBe('M0 1V0H1V0.5H2V1Z');
  expect(outlineOf([0.25], 0.5)).toBe('M0 1V0.5H1V1Z');
});
