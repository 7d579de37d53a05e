import { effectiveValues } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { expect, test } from 'vitest';
import {
  clampedValues,
  correctionsOf,
  type FormValues,
  initialValues,
  problemsOf,
  requestParameters,
  resetValues,
  visibleFields,
  withSettings,
} from './form-values.ts';

const { flux, paris, seedance, veo } = generators;

test('a form starts with the defaults', () => {
  expect(initialValues(paris)).toEqual({
    cfg_scale: 7.5,
    num_inference_steps: 100,
    sampling_strategy: 'topk',
    k: 4,
    output_format: 'png',
    seed: Number.NaN,
  });
  expect(initialValues(veo)).toMatchObject({ duration: '8', quality: 'hd', generate_audio: true });
  expect(initialValues(seedance)).toMatchObject({
    duration: '5',
    aspect_ratio: '16:9',
    quality: '720p',
    negative_prompt: 'blurry, distorted, low resolution, pixelated, oversaturated',
  });
});

test('restores earlier values if they are valid', () => {
  const typed = { aspect_ratio: '9:16', guidance_scale: 'much', seed: 7, other: 1 };
  expect(initialValues(flux, typed)).toEqual({
    aspect_ratio: '9:16',
    guidance_scale: 3.5,
    n: 1,
    num_inference_steps: 28,
    seed: 7,
    lora: '',
    lora_scale: 1,
  });
  expect(initialValues(flux, { aspect_ratio: '5:4' }).aspect_ratio).toBe('1:1');
});

test('the experts choice sets their number, and the last custom number returns', () => {
  const typed = { ...initialValues(paris), k: 3 };
  const withChoice = (sampling_strategy: string) => ({ ...typed, sampling_strategy });
  const isOpen = (choice: string) =>
    visibleFields(paris, withChoice(choice)).some(
      (field) => field.name === 'k' && field.kind === 'number' && !field.disabled,
    );
  expect(effectiveValues(paris, withChoice('top1')).k).toBe(1);
  expect(effectiveValues(paris, withChoice('full')).k).toBe(8);
  expect(effectiveValues(paris, withChoice('topk')).k).toBe(3);
  expect([isOpen('top1'), isOpen('topk'), isOpen('full')]).toEqual([false, true, false]);
});

test('Reset selects one expert, and the last custom number still returns', () => {
  const typed = { ...initialValues(paris), k: 6, cfg_scale: 3, seed: 7 };
  const reset = resetValues(paris, typed);
  expect(effectiveValues(paris, reset)).toEqual({
    cfg_scale: 7.5,
    num_inference_steps: 20,
    sampling_strategy: 'top1',
    k: 1,
    output_format: 'png',
    seed: Number.NaN,
  });
  expect(effectiveValues(paris, { ...reset, sampling_strategy: 'topk' }).k).toBe(6);
});

test('clamps numbers on blur and replaces invalid ones with the fallback', () => {
  const left = (typed: FormValues) => clampedValues(paris, { ...initialValues(paris), ...typed });
  expect(left({ cfg_scale: 0.2, num_inference_steps: 5, k: 0, seed: -1 })).toMatchObject({
    ...{ cfg_scale: 1, num_inference_steps: 10, k: 1, seed: 0 },
  });
  expect(left({ cfg_scale: 99, num_inference_steps: 999, k: 12, seed: 1e12 })).toMatchObject({
    ...{ cfg_scale: 15, num_inference_steps: 200, k: 8, seed: 4_294_967_295 },
  });
  const none = { cfg_scale: Number.NaN, num_inference_steps: Number.NaN, k: Number.NaN, seed: Number.NaN };
  expect(left(none)).toMatchObject({ cfg_scale: 7.5, num_inference_steps: 20, k: 2, seed: Number.NaN });
  expect(left({ cfg_scale: 7.3, num_inference_steps: 20.6 })).toMatchObject({
    ...{ cfg_scale: 7.3, num_inference_steps: 21, sampling_strategy: 'topk', output_format: 'png' },
  });
});

test('explains how an invalid number was corrected', () => {
  const typed = {
    ...initialValues(paris),
    cfg_scale: 99,
    num_inference_steps: 20.6,
    k: Number.NaN,
    seed: -1,
  };
  expect(correctionsOf(paris, typed)).toEqual({
    cfg_scale: '99 is too high and was changed to 15.',
    num_inference_steps: '20.6 was rounded to 21.',
    k: 'It was empty and was set to 2.',
    seed: '−1 is too low and was changed to 0.',
  });
  expect(correctionsOf(paris, clampedValues(paris, typed))).toEqual({});
});

test('each number shows its bounds unless another field determines it', () => {
  const helps = (strategy: string) =>
    Object.fromEntries(
      visibleFields(paris, { ...initialValues(paris), sampling_strategy: strategy }).map((field) => [
        field.name,
        typeof field.help === 'string' ? field.help.replaceAll('\u00a0', ' ') : field.help,
      ]),
    );
  expect(helps('topk')).toMatchObject({
    cfg_scale: 'How closely the result follows the prompt. From 1 to 15.',
    k: 'From 1 to 8.',
    seed: 'Leave empty for a different result each time. From 0 to 4,294,967,295.',
  });
  expect(helps('full').k).toBeUndefined();
});

test('requests are within the bounds even before a field is blurred', () => {
  const typed = { ...initialValues(paris), num_inference_steps: 5, cfg_scale: 99 };
  expect(requestParameters(paris, typed)).toMatchObject({ num_inference_steps: 10, cfg_scale: 15 });
});

test('sends a LoRA with its strength once it is chosen or brought by a link', () => {
  const ofLora = (values: FormValues) =>
    Object.entries(requestParameters(flux, values)).filter(([name]) => name.startsWith('lora'));
  const first = initialValues(flux);
  expect(ofLora({ ...first, lora_scale: 0.5 })).toEqual([]);
  const brought = withSettings(flux, first, { lora: 'a1', lora_scale: 0.5 });
  expect(ofLora(brought)).toEqual([
    ['lora', 'a1'],
    ['lora_scale', 0.5],
  ]);
  expect(ofLora({ ...brought, lora_scale: 9 })).toContainEqual(['lora_scale', 2]);
  expect(visibleFields(flux, brought).some(({ name }) => name.startsWith('lora'))).toBe(false);
});

test('a prompt is required; numbers are never a problem', () => {
  const problems = (prompt: string, values: FormValues) =>
    problemsOf(paris, { prompt, values, source: null });
  expect(problems(' \n', initialValues(paris))).toEqual({ prompt: 'Please enter a prompt' });
  const values = { ...initialValues(paris), cfg_scale: 16, k: 0, seed: -1 };
  expect(problems('bread', values)).toEqual({});
  // A value determined by another field is always valid.
  expect(problems('bread', { ...initialValues(paris), k: 0, sampling_strategy: 'full' })).toEqual({});
});

test('an editor requires a picture', () => {
  const kontext = generators['flux-kontext'];
  const values = initialValues(kontext);
  expect(problemsOf(kontext, { prompt: 'a hat', values, source: null })).toEqual({
    image: 'Please choose a picture',
  });
  expect(problemsOf(kontext, { prompt: 'a hat', values, source: { generationId: 'g1' } })).toEqual({});
});
