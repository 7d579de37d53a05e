import { aspectRatio, guidance, negativePrompt, pictures, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

export const qwenImage: Generator = {
  title: 'Qwen-Image',
  maker: 'Alibaba',
  makes: 'image',
  about: 'Pictures with text in several scripts.',
  fields: [
    aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']),
    guidance({ min: 1, max: 20, default: 4 }),
    // fal refuses a single step.
    steps({ min: 2, max: 50, default: 50 }),
    negativePrompt(),
    pictures,
    seed,
  ],
};
