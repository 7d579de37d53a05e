import { guidance, lora, negativePrompt, seed, steps, strength } from './fields.ts';
import type { Generator } from './generator.ts';

/** Name of the starter model that edits pictures, in the API. */
export const KONTEXT_STARTER = 'kontext-starter';

export const fluxKontext: Generator = {
  title: 'FLUX.1 Kontext',
  maker: 'Black Forest Labs',
  makes: 'image',
  starter: {
    model: KONTEXT_STARTER,
    title: 'Kontext starter',
    limits: '128 × 128, best at colors, places and plain backgrounds',
    qualities: [
      { label: 'Draft', settings: { num_inference_steps: 10 } },
      { label: 'Fine', settings: { num_inference_steps: 20 } },
    ],
    opensOn: 'Fine',
  },
  about: 'Edits a picture from your description, and leaves the rest as it is.',
  fields: [
    { kind: 'picture', name: 'image', label: 'Picture', takesMask: true },
    guidance({ min: 1, max: 20, default: 2.5 }),
    steps({ min: 1, max: 50, default: 28 }),
    strength,
    { ...negativePrompt(), isOfStarter: true },
    seed,
    ...lora,
  ],
};
