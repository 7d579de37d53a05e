import { expect, test } from 'vitest';
import { clampParis } from './clamp-paris.ts';

const unsaid = {
  cfg_scale: 7.5,
  num_inference_steps: 20,
  sampling_strategy: 'top1',
  k: 1,
  output_format: 'png',
  seed: null,
};

test.each([
  ['nothing', {}, unsaid],
  ['guidance below and above', { cfg_scale: 0.5 }, { ...unsaid, cfg_scale: 1 }],
  ['guidance above', { cfg_scale: 99 }, { ...unsaid, cfg_scale: 15 }],
  ['guidance as text', { cfg_scale: '8' }, { ...unsaid, cfg_scale: 8 }],
  ['guidance that is no number', { cfg_scale: 'much' }, unsaid],
  ['a seed as text', { seed: '5' }, { ...unsaid, seed: 5 }],
  ['an empty seed', { seed: ' ' }, unsaid],
  ['guidance that is not finite', { cfg_scale: Number.NaN }, unsaid],
  ['steps below', { num_inference_steps: 3 }, { ...unsaid, num_inference_steps: 10 }],
  ['steps above', { num_inference_steps: 1000 }, { ...unsaid, num_inference_steps: 200 }],
  ['half a step', { num_inference_steps: 30.4 }, { ...unsaid, num_inference_steps: 30 }],
  ['steps that are no number', { num_inference_steps: null }, unsaid],
  ['the best few', { sampling_strategy: 'topk', k: 3 }, { ...unsaid, sampling_strategy: 'topk', k: 3 }],
  ['the best few of nobody', { sampling_strategy: 'topk' }, { ...unsaid, sampling_strategy: 'topk', k: 2 }],
  ['too many', { sampling_strategy: 'topk', k: 12 }, { ...unsaid, sampling_strategy: 'topk', k: 8 }],
  ['the best one of five', { sampling_strategy: 'top1', k: 5 }, unsaid],
  ['all', { sampling_strategy: 'full', k: 5 }, { ...unsaid, sampling_strategy: 'full', k: 8 }],
  ['an unknown strategy', { sampling_strategy: 'all', k: 5 }, unsaid],
  ['another format', { output_format: 'webp' }, { ...unsaid, output_format: 'webp' }],
  ['an unknown format', { output_format: 'gif' }, unsaid],
  ['a seed', { seed: 4_294_967_295 }, { ...unsaid, seed: 4_294_967_295 }],
  ['half a seed', { seed: 1.5 }, unsaid],
  ['a seed below', { seed: -1 }, unsaid],
  ['several pictures, and more', { num_images: 4, negative_prompt: 'rain' }, unsaid],
])('Paris generates with what it can: %s', (_name, asked, generated) => {
  expect(clampParis(asked)).toEqual(generated);
});
