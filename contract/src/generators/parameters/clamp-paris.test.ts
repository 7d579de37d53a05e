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
  ['guidance below the minimum', { cfg_scale: 0.5 }, { ...unsaid, cfg_scale: 1 }],
  ['guidance above the maximum', { cfg_scale: 99 }, { ...unsaid, cfg_scale: 15 }],
  ['guidance as text', { cfg_scale: '8' }, { ...unsaid, cfg_scale: 8 }],
  ['guidance that is not a number', { cfg_scale: 'much' }, unsaid],
  ['a seed as text', { seed: '5' }, { ...unsaid, seed: 5 }],
  ['an empty seed', { seed: ' ' }, unsaid],
  ['guidance that is not finite', { cfg_scale: Number.NaN }, unsaid],
  ['steps below the minimum', { num_inference_steps: 3 }, { ...unsaid, num_inference_steps: 10 }],
  ['steps above the maximum', { num_inference_steps: 1000 }, { ...unsaid, num_inference_steps: 200 }],
  ['fractional steps', { num_inference_steps: 30.4 }, { ...unsaid, num_inference_steps: 30 }],
  ['steps that are not a number', { num_inference_steps: null }, unsaid],
  ['top-k', { sampling_strategy: 'topk', k: 3 }, { ...unsaid, sampling_strategy: 'topk', k: 3 }],
  ['top-k without k', { sampling_strategy: 'topk' }, { ...unsaid, sampling_strategy: 'topk', k: 2 }],
  [
    'k above the maximum',
    { sampling_strategy: 'topk', k: 12 },
    { ...unsaid, sampling_strategy: 'topk', k: 8 },
  ],
  ['top-1 with k', { sampling_strategy: 'top1', k: 5 }, unsaid],
  ['all', { sampling_strategy: 'full', k: 5 }, { ...unsaid, sampling_strategy: 'full', k: 8 }],
  ['an unknown strategy', { sampling_strategy: 'all', k: 5 }, unsaid],
  ['another format', { output_format: 'webp' }, { ...unsaid, output_format: 'webp' }],
  ['an unknown format', { output_format: 'gif' }, unsaid],
  ['a seed', { seed: 4_294_967_295 }, { ...unsaid, seed: 4_294_967_295 }],
  ['a fractional seed', { seed: 1.5 }, unsaid],
  ['a seed below the minimum', { seed: -1 }, unsaid],
  ['several pictures and unknown fields', { num_images: 4, negative_prompt: 'rain' }, unsaid],
])('Paris corrects invalid parameters: %s', (_name, asked, generated) => {
  expect(clampParis(asked)).toEqual(generated);
});
