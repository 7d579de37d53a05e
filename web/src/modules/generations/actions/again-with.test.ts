import { expect, test } from 'vitest';
import { againWith } from './again-with.ts';

const generation = { parameters: { cfg_scale: 7.5, sampling_strategy: 'topk', k: 4, seed: null }, seed: 7 };

test.each([
  ['top1', 1],
  ['topk', 3],
  ['full', 8],
] as const)('%s generates with %i, and the rest stays', (strategy, k) => {
  expect(againWith(generation, { strategy, k: 3, sameSeed: true })).toEqual({
    cfg_scale: 7.5,
    sampling_strategy: strategy,
    k,
    seed: 7,
  });
});

test('another seed is the server’s choice', () => {
  expect(againWith(generation, { strategy: 'full', k: 3, sameSeed: false }).seed).toBeNull();
});
