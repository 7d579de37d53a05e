import { expect, test } from 'vitest';
import { generationOf } from '../testing/generation-of.ts';
import { remixOf } from './remix.ts';

const source = {
  generation_id: null,
  output_id: null,
  url: '/s.png',
  thumbnail_url: '/s.png',
  mask_url: null,
  media_type: 'image/png',
  width: 1,
  height: 1,
};

test('a remix copies everything, the prompt or the seed', () => {
  const generation = generationOf({ prompt: 'bread', parameters: { k: 2, seed: null }, seed: 7 });
  expect(remixOf(generation, 'all')).toEqual({ prompt: 'bread', settings: { k: 2, seed: 7 } });
  expect(remixOf(generation, 'prompt')).toEqual({ prompt: 'bread' });
  expect(remixOf(generation, 'seed')).toEqual({ settings: { seed: 7 } });
});

test('an edit brings its source', () => {
  const edit = generationOf({ id: 'e1', parameters: {}, source });
  expect(remixOf(edit, 'all')).toMatchObject({ same_source_as: 'e1' });
  expect(remixOf(edit, 'prompt')).toEqual({ prompt: 'A loaf of bread' });
});
