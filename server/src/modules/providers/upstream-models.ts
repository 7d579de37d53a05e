import type { GeneratorName } from '@bakehouse/contract/generators';
import { as, oneOf, type UpstreamModel } from './field-mappers.ts';

const falSizes = {
  '1:1': 'square_hd',
  '4:3': 'landscape_4_3',
  '16:9': 'landscape_16_9',
  '3:4': 'portrait_4_3',
  '9:16': 'portrait_16_9',
  '21:9': { width: 1536, height: 640 },
};
const falShape = { aspect_ratio: oneOf('image_size', falSizes) };
const falCount = { n: as('num_images') };
const falSteps = { guidance_scale: as('guidance_scale'), num_inference_steps: as('num_inference_steps') };
const seed = { seed: as('seed') };
const negative = { negative_prompt: as('negative_prompt') };
const ratio = { aspect_ratio: as('aspect_ratio') };
const png = { output_format: 'png' };

/** Multiples of 32, as its maker's API requires. */
const fluxSizes = {
  '1:1': { width: 1024, height: 1024 },
  '4:3': { width: 1152, height: 864 },
  '16:9': { width: 1344, height: 768 },
  '3:4': { width: 864, height: 1152 },
  '9:16': { width: 768, height: 1344 },
  '21:9': { width: 1440, height: 608 },
};
const seedreamSizes = {
  '1:1': { width: 2048, height: 2048 },
  '4:3': { width: 2304, height: 1728 },
  '16:9': { width: 2560, height: 1440 },
  '3:4': { width: 1728, height: 2304 },
  '9:16': { width: 1440, height: 2560 },
};
const seedreamTexts = Object.fromEntries(
  Object.entries(seedreamSizes).map(([shape, { width, height }]) => [shape, `${width}x${height}`]),
);

/**
 * The services of each generator. The first one with a key is used; the maker's own service comes first. A
 * service offers a field only if it accepts all choices of the field.
 */
export const upstreamModels = {
  flux: [
    {
      service: 'blackForestLabs',
      model: 'flux-dev',
      fields: {
        aspect_ratio: (value) => fluxSizes[String(value) as keyof typeof fluxSizes],
        num_inference_steps: as('steps'),
        ...seed,
      },
      always: png,
    },
    {
      service: 'fal',
      model: 'fal-ai/flux/dev',
      fields: { ...falShape, ...falSteps, ...falCount, ...seed },
      always: png,
    },
    {
      service: 'replicate',
      model: 'black-forest-labs/flux-dev',
      fields: { ...ratio, num_inference_steps: as('num_inference_steps'), n: as('num_outputs'), ...seed },
      always: png,
    },
  ],
  // These services choose the number of steps; only fal accepts a guidance.
  'flux-kontext': [
    {
      service: 'blackForestLabs',
      model: 'flux-kontext-pro',
      fields: seed,
      // This service expects base64 without the prefix of the `data:` URL.
      picture: (address) => ({ input_image: address.slice(address.indexOf(',') + 1) }),
      always: png,
    },
    {
      service: 'fal',
      model: 'fal-ai/flux-pro/kontext',
      fields: { guidance_scale: as('guidance_scale'), ...seed },
      picture: (address) => ({ image_url: address }),
      always: png,
    },
    {
      service: 'replicate',
      model: 'black-forest-labs/flux-kontext-pro',
      fields: seed,
      picture: (address) => ({ input_image: address }),
      always: png,
    },
  ],
  recraft: [
    {
      service: 'fal',
      model: 'fal-ai/recraft/v3/text-to-image',
      fields: { ...falShape, style: as('style') },
    },
    { service: 'replicate', model: 'recraft-ai/recraft-v3', fields: { ...ratio, style: as('style') } },
  ],
  ideogram: [
    {
      service: 'fal',
      model: 'fal-ai/ideogram/v3',
      fields: {
        ...falShape,
        style: (value) => ({ style: String(value).toUpperCase() }),
        ...negative,
        ...falCount,
        ...seed,
      },
    },
    {
      service: 'replicate',
      model: 'ideogram-ai/ideogram-v3-balanced',
      fields: {
        ...ratio,
        style: oneOf('style_type', {
          auto: 'Auto',
          general: 'General',
          realistic: 'Realistic',
          design: 'Design',
        }),
      },
    },
  ],
  'stable-diffusion': [
    {
      service: 'fal',
      model: 'fal-ai/stable-diffusion-v35-large',
      fields: { ...falShape, ...falSteps, ...negative, ...falCount, ...seed },
      always: png,
    },
    {
      service: 'replicate',
      model: 'stability-ai/stable-diffusion-3.5-large',
      fields: { ...ratio, ...seed },
      always: png,
    },
  ],
  seedream: [
    {
      service: 'byteplus',
      model: 'seedream-4-0-250828',
      fields: { aspect_ratio: oneOf('size', seedreamTexts) },
      always: { watermark: false, sequential_image_generation: 'disabled' },
    },
    {
      service: 'fal',
      model: 'fal-ai/bytedance/seedream/v4/text-to-image',
      fields: { aspect_ratio: oneOf('image_size', seedreamSizes), ...falCount, ...seed },
    },
    {
      service: 'replicate',
      model: 'bytedance/seedream-4',
      fields: ratio,
      always: { size: '2K', sequential_image_generation: 'disabled' },
    },
  ],
  hidream: [
    {
      service: 'fal',
      model: 'fal-ai/hidream-i1-full',
      fields: { ...falShape, ...falSteps, ...negative, ...falCount, ...seed },
      always: png,
    },
  ],
  'qwen-image': [
    {
      service: 'fal',
      model: 'fal-ai/qwen-image',
      fields: { ...falShape, ...falSteps, ...negative, ...falCount, ...seed },
      always: png,
    },
    {
      service: 'replicate',
      model: 'qwen/qwen-image',
      fields: { ...ratio, num_inference_steps: as('num_inference_steps'), ...negative, ...seed },
      always: png,
    },
  ],
  janus: [
    {
      service: 'fal',
      model: 'fal-ai/janus',
      fields: { guidance_scale: as('cfg_weight'), ...falCount, ...seed },
    },
  ],
  'minimax-image': [
    { service: 'fal', model: 'fal-ai/minimax/image-01', fields: { ...ratio, ...falCount } },
    { service: 'replicate', model: 'minimax/image-01', fields: { ...ratio, n: as('number_of_images') } },
  ],
} as const satisfies Partial<Record<GeneratorName, readonly UpstreamModel[]>>;

/** Picture generators that a service can serve. */
export type UpstreamGenerator = keyof typeof upstreamModels;
