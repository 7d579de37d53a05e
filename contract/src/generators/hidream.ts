import { aspectRatio, guidance, negativePrompt, pictures, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

export const hidream: Generator = {
  title: 'HiDream I1',
  maker: 'HiDream.ai',
  makes: 'image',
  about: 'An open model that follows complex descriptions.',
  fields: [
    aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']),
    guidance({ min: 1, max: 20, default: 5 }),
    steps({ min: 1, max: 50, default: 50 }),
    negativePrompt(),
    pictures,
    seed,
  ],
};
