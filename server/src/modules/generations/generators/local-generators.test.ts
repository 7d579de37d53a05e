import { PROMPT_LENGTH_MAX } from '@bakehouse/contract/generations';
import { expect, test } from 'vitest';
import { costMicro } from '../../billing/prices/cost.ts';
import { defaultPrices } from '../../billing/prices/prices.ts';
import type { GenerationRow } from '../queries.ts';
import { localGenerator } from './local-generators.ts';

test.each(['bread ', '麺', '🍞'])("the file's metadata holds the longest prompt: %s", (word) => {
  const prompt = word.repeat(PROMPT_LENGTH_MAX / word.length);
  const row = {
    ...{ generator: 'flux', prompt, model: 'my-painter', id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' },
    ...{ seed: 7n, steps: 28, parameters: { guidance_scale: 3.5, num_inference_steps: 28, seed: 7 } },
  } as unknown as GenerationRow;
  expect(localGenerator('flux', 'deployment:p1')?.request(row, { picture: null }).metadata).toEqual({
    ...{ prompt, model: 'my-painter', generation_id: row.id },
    ...{ guidance_scale: '3.5', num_inference_steps: '28', seed: '7' },
  });
});

test.each([
  ['wan', {}, 30n],
  ['wan', { duration: 5, aspect_ratio: '9:16', num_inference_steps: 30 }, 30n],
  ['wan', { duration: 2, num_inference_steps: 50 }, 20n],
  ['seedance', { duration: 10 }, 60n],
  ['seedance', { duration: 5, quality: '1080p' }, 68n],
  ['kling', { duration: 5, aspect_ratio: '1:1' }, 17n],
  ['wan', { duration: '2', aspect_ratio: '1:1', quality: '64p', num_inference_steps: 16 }, 1n],
] as const)(
  'a %s with %j on a Wan model is priced by steps, seconds and pixels',
  (name, parameters, parts) => {
    const cost = costMicro([{ price: defaultPrices.videos, parts }]);
    expect(localGenerator(name, 'deployment:p1')?.cost(defaultPrices, parameters)).toBe(cost);
  },
);

test.each([
  // The largest output of Wan on one machine for 10 s at 1080p: 121 frames at 24 fps.
  ['seedance', { duration: 10, quality: '1080p' }, { width: 1280, height: 704, durationS: 121 / 24 }, 30n],
  ['wan', { duration: 5, num_inference_steps: 30 }, { width: 832, height: 480, durationS: 5 }, 13n],
  ['wan', { duration: 5, num_inference_steps: 30 }, { width: 1280, height: 720, durationS: 5.1 }, 30n],
  ['wan', { duration: 5, num_inference_steps: 30 }, { width: 64, height: 64, durationS: null }, 1n],
] as const)('a %s with %j is charged by its actual size %j', (name, parameters, output, parts) => {
  const own = localGenerator(name, 'deployment:p1');
  const held = own?.cost(defaultPrices, parameters) ?? 0n;
  const cost = costMicro([{ price: defaultPrices.videos, parts }]);
  expect(own?.charge?.(held, parameters, output)).toBe(cost);
});

test.each([
  ['recraft', 'paris-ddm-v1.0', { seed: 7 }, 'pictures:CPU', 40n],
  ['veo', 'wan-starter', { duration: '8', quality: 'fhd', generate_audio: true }, 'videos', 1n],
] as const)(
  'a starter that substitutes for %s is priced by its own output',
  (name, model, parameters, price, parts) => {
    const own = localGenerator(name, `starter:${model}`);
    expect(own?.cost(defaultPrices, parameters)).toBe(costMicro([{ price: defaultPrices[price], parts }]));
  },
);

test("a substitute starter uses its own default settings and the request's negative prompt", () => {
  const row = {
    ...{ generator: 'seedance', prompt: 'a frog spins', model: 'wan-starter', seed: 7n, steps: 16, id: 'g' },
    parameters: {
      duration: '10',
      quality: '1080p',
      aspect_ratio: '16:9',
      negative_prompt: 'blurry',
      seed: 7,
    },
  } as unknown as GenerationRow;
  const own = localGenerator('seedance', 'starter:wan-starter');
  expect(own?.steps(row.parameters)).toBe(16);
  expect(own?.request(row, { picture: null })).toMatchObject({
    ...{ prompt: 'a frog spins', seed: 7, steps: 16, guidance: 3, negative_prompt: 'blurry' },
    ...{ seconds: 2, width: 64, height: 64, metadata: { duration: '10', quality: '1080p', seed: '7' } },
  });
});
