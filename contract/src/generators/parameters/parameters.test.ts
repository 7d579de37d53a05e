import { expect, test } from 'vitest';
import { generators } from '../table.ts';
import { completeParameters, formOfService, formOfStarter } from './parameters.ts';

const { flux, paris, seedance, veo, wan } = generators;
const lora = '019b0000-0000-7000-8000-000000000000';

test('fills in defaults and determined values', () => {
  expect(completeParameters(paris, {})).toEqual({
    values: {
      cfg_scale: 7.5,
      num_inference_steps: 100,
      sampling_strategy: 'topk',
      k: 4,
      output_format: 'png',
      seed: null,
    },
    problem: null,
  });
  expect(completeParameters(paris, { sampling_strategy: 'full', k: 2 }).values?.k).toBe(8);
  expect(completeParameters(paris, { seed: 0 }).values?.seed).toBe(0);
});

test("Seedance and Veo start with the product's values", () => {
  expect(completeParameters(seedance, {}).values).toEqual({
    ...{ aspect_ratio: '16:9', duration: '5', quality: '720p', seed: null },
    negative_prompt: 'blurry, distorted, low resolution, pixelated, oversaturated',
  });
  expect(completeParameters(veo, {}).values).toEqual({
    ...{ duration: '8', quality: 'hd', generate_audio: true, negative_prompt: '', seed: null },
  });
});

test("a starter's fixed values override the request; other values are unchanged", () => {
  const fixed = { aspect_ratio: '1:1', duration: '2', quality: '64p' };
  const form = formOfStarter(wan);
  expect(completeParameters(form, { duration: '5' }).values).toEqual({
    ...{ ...fixed, guidance_scale: 5, num_inference_steps: 30, negative_prompt: '', seed: null },
  });
  expect(completeParameters(form, { duration: '7' }).problem).toMatchObject({ field: 'duration' });
  expect(formOfStarter(paris).fields).toBe(paris.fields);
});

test('a LoRA has a strength, and without one both are omitted', () => {
  expect(completeParameters(flux, { lora }).values).toMatchObject({ lora, lora_scale: 1 });
  expect(completeParameters(flux, { lora, lora_scale: 0 }).values).toMatchObject({ lora_scale: 0 });
  for (const given of [{ lora: null }, { lora: '' }])
    expect(Object.keys(completeParameters(flux, given).values ?? {})).not.toContain('lora_scale');
});

test('a service accepts only its supported fields and signed seeds', () => {
  const form = formOfService(flux, ['n', 'seed']);
  expect(form.fields.map(({ name }) => name)).toEqual(['n', 'seed']);
  expect(completeParameters(form, { seed: 2_147_483_647 }).problem).toBeNull();
  const message = 'Seed must be at most 2147483647';
  expect(completeParameters(form, { seed: 2_147_483_648 }).problem).toEqual({ field: 'seed', message });
  expect(formOfService(flux, undefined)).toBe(flux);
});

test.each([
  [paris, { cfg_scale: 16 }, 'cfg_scale', 'Guidance must be at most 15'],
  [paris, { cfg_scale: 'high' }, 'cfg_scale', 'Guidance must be a number'],
  [paris, { num_inference_steps: 10.5 }, 'num_inference_steps', 'Steps must be a whole number'],
  [paris, { k: null }, 'k', 'Number of experts must be a number'],
  [paris, { sampling_strategy: 'best' }, 'sampling_strategy', 'Experts must be one of top1, topk, full'],
  [paris, { seed: 4_294_967_296 }, 'seed', 'Seed must be at most 4294967295'],
  [paris, { seed: 'any' }, 'seed', 'Seed must be a number'],
  [paris, { negative_prompt: 'rain' }, 'negative_prompt', 'Paris has no parameter negative_prompt'],
  [paris, { lora }, 'lora', 'Paris has no parameter lora'],
  [flux, { lora: 'mine' }, 'lora', 'LoRA must be the id of a model'],
  [flux, { lora_scale: 1 }, 'lora_scale', 'LoRA strength needs lora'],
  [flux, { lora, lora_scale: 2.5 }, 'lora_scale', 'LoRA strength must be at most 2'],
  [veo, { generate_audio: 'yes' }, 'generate_audio', expect.stringMatching(/ must be true or false$/)],
])('%# reports an invalid value by field', (generator, given, field, message) => {
  expect(completeParameters(generator, given)).toEqual({ values: null, problem: { field, message } });
});
