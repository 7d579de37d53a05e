import { aspectRatio, guidance, negativePrompt, pictures, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

export const stableDiffusion: Generator = {
  title: 'Stable Diffusion 3.5',
  maker: 'Stability AI',
  makes: 'image',
  about: 'An open model with a wide range of styles.',
  fields: [
    aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']),
    guidance({ min: 1, max: 20, default: 4.5 }),
    steps({ min: 1, max: 50, default: 28 }),
    negativePrompt(),
    pictures,
    seed,
  ],
};
