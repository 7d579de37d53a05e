import { aspectRatio, guidance, negativePrompt, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

export const wan: Generator = {
  title: 'Wan 2.2',
  maker: 'Alibaba',
  makes: 'video',
  about: 'An open video model. It is not served here yet.',
  fields: [
    aspectRatio(['16:9', '9:16']),
    guidance({ min: 1, max: 20, default: 5 }),
    steps({ min: 1, max: 50, default: 50 }),
    negativePrompt(),
    seed,
  ],
};
