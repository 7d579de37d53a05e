import { expect, test } from 'vitest';
import { withOtherExperts } from './with-other-experts.ts';

const generation = { parameters: { cfg_scale: 7.5, sampling_strategy: 'topk', k: 4, seed: null }, seed: 7 };

test.each([
  ['top1', 1],
  ['topk', 3],
  ['full', 8],
] as const)('%s generates with %i and keeps the other parameters', (strategy, k) => {
  expect(withOtherExperts(generation, { strategy, k: 3, sameSeed: true })).toEqual({
    cfg_scale: 7.5,
    sampling_strategy: strategy,
    k,
    seed: 7,
  });
});

test('lets the server choose another seed', () => {
  expect(withOtherExperts(generation, { strategy: 'full', k: 3, sameSeed: false }).seed).toBeNull();
});
