import { expect, test } from 'vitest';
import { readFamily } from './family.ts';

test.each([
  [{ model_type: 'llama' }, 'llama'],
  [{ model_type: 'qwen2' }, 'qwen'],
  [{ model_type: 'qwen3_moe' }, 'qwen'],
  [{ model_type: 'mistral', architectures: [] }, 'mistral'],
  [{ _class_name: 'FluxPipeline' }, 'flux'],
  [{ _class_name: 'FluxKontextPipeline' }, 'flux-kontext'],
  [{ _class_name: 'StableDiffusionXLPipeline' }, 'stable-diffusion-xl'],
  [{ _class_name: 'AutoencoderKL' }, null],
  [{ model_type: '<script>' }, null],
  [{ model_type: 7 }, null],
  [{}, null],
  [null, null],
  ['llama', null],
])('%j has the family %j', (content, family) => {
  expect(readFamily(content)).toBe(family);
});
