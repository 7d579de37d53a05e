import { aspectRatio, pictures, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const seedream: Generator = {
  title: 'Seedream 4',
  maker: 'ByteDance',
  makes: 'image',
  about: 'Large pictures in many styles.',
  fields: [aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']), pictures, seed],
};
