import { aspectRatio, guidance, negativePrompt, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

export const wan: Generator = {
  title: 'Wan 2.2',
  maker: 'Alibaba',
  makes: 'video',
  about: 'An open model for films, which can be served on a GPU of your own.',
  fields: [
    aspectRatio(['16:9', '9:16']),
    guidance({ min: 1, max: 20, default: 5 }),
    steps({ min: 1, max: 50, default: 50 }),
    negativePrompt(),
    seed,
  ],
};
