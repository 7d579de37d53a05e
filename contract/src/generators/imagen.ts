import { aspectRatio, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const imagen: Generator = {
  title: 'Imagen 4',
  maker: 'Google',
  makes: 'image',
  about: 'Photographs and fine textures.',
  retired: 'Google shut Imagen 4 down in 2026: no service makes pictures with it any more.',
  fields: [aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']), seed],
};
