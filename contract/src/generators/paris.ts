import { seed } from './fields.ts';
import type { Generator } from './generator.ts';

/** Name of the starter model in the API. */
export const PARIS_MODEL = 'paris-ddm-v1.0';

export const paris: Generator = {
  title: 'Paris',
  maker: 'Bagel',
  makes: 'image',
  starter: {
    model: PARIS_MODEL,
    title: 'Paris starter',
    limits: '128 × 128, best at single objects',
    qualities: [
      { label: 'Draft', settings: { cfg_scale: 4, num_inference_steps: 10, sampling_strategy: 'top1' } },
      { label: 'Standard', settings: { cfg_scale: 4, num_inference_steps: 20, k: 2 } },
      { label: 'API defaults', settings: {} },
    ],
    opensOn: 'Standard',
  },
  hasExperts: true,
  // Prompts that suit the starter: single objects that occur in its training data.
  examples: [
    'a red apple on a table',
    'a penguin in the snow',
    'a rocket in the sky',
    'a cactus on sand',
    'a pizza on a table',
  ],
  about: 'Small pictures of single things, drawn on this server.',
  fields: [
    {
      kind: 'number',
      name: 'cfg_scale',
      label: 'Guidance',
      isAdvanced: true,
      help: 'How closely the result follows the prompt.',
      min: 1,
      max: 15,
      step: 0.5,
      default: 7.5,
    },
    {
      kind: 'number',
      name: 'num_inference_steps',
      label: 'Steps',
      isAdvanced: true,
      help: 'More steps take longer and add detail.',
      min: 10,
      max: 200,
      step: 1,
      default: 100,
      fallback: 20,
    },
    {
      kind: 'choice',
      name: 'sampling_strategy',
      label: 'Experts',
      isAdvanced: true,
      help: 'Which experts work on each step.',
      options: [
        { value: 'top1', label: 'The best one' },
        { value: 'topk', label: 'The best few' },
        { value: 'full', label: 'All eight' },
      ],
      default: 'topk',
    },
    {
      kind: 'number',
      name: 'k',
      label: 'Number of experts',
      isAdvanced: true,
      min: 1,
      max: 8,
      step: 1,
      default: 4,
      fallback: 2,
      decidedBy: { field: 'sampling_strategy', values: { top1: 1, full: 8 } },
    },
    {
      kind: 'choice',
      name: 'output_format',
      label: 'File format',
      isAdvanced: true,
      options: [
        { value: 'png', label: 'PNG' },
        { value: 'jpeg', label: 'JPEG' },
        { value: 'webp', label: 'WebP' },
      ],
      default: 'png',
    },
    seed,
  ],
  reset: { num_inference_steps: 20, sampling_strategy: 'top1' },
};
