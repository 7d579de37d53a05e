import { expect, test } from 'vitest';
import { remixOf } from './remix.ts';

const generation = { prompt: 'A loaf', parameters: { k: 4, seed: null }, seed: 7 };

test('a remix takes everything over, the prompt or the seed', () => {
  expect(remixOf(generation, 'all')).toEqual({ prompt: 'A loaf', settings: { k: 4, seed: 7 } });
  expect(remixOf(generation, 'prompt')).toEqual({ prompt: 'A loaf' });
  expect(remixOf(generation, 'seed')).toEqual({ settings: { seed: 7 } });
});
