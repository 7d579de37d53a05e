import { expect, test } from 'vitest';
import { differingParameters, shownParameters } from './shown-parameters.ts';

const drawn = (sampling_strategy: string, k: number) => ({
  generator: 'paris' as const,
  parameters: { cfg_scale: 7.5, sampling_strategy, k, seed: null },
  seed: 7,
});

test('parameters have the names and the words of the form', () => {
  expect(shownParameters(drawn('topk', 4))).toEqual([
    { name: 'Guidance', value: '7.5' },
    { name: 'Experts', value: 'The best few' },
    { name: 'Number of experts', value: '4' },
    { name: 'Seed', value: '7' },
  ]);
});

test('of two only what differs', () => {
  expect(differingParameters([drawn('topk', 4), drawn('full', 8)])).toEqual([
    { name: 'Experts', values: ['The best few', 'All eight'] },
    { name: 'Number of experts', values: ['4', '8'] },
  ]);
  expect(differingParameters([drawn('topk', 4), drawn('topk', 4)])).toEqual([]);
});
