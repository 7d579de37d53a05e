import { aspectRatio, guidance, lora, pictures, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

export const flux: Generator = {
  title: 'FLUX.1',
  maker: 'Black Forest Labs',
  makes: 'image',
  about: 'Detailed pictures that closely follow a long prompt.',
  fields: [
    aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16', '21:9']),
    guidance({ min: 1, max: 20, default: 3.5 }),
    steps({ min: 1, max: 50, default: 28 }),
    pictures,
    seed,
    ...lora,
  ],
};
