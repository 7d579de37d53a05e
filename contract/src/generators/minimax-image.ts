import { aspectRatio, pictures, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const minimaxImage: Generator = {
  title: 'MiniMax Image-01',
  maker: 'MiniMax',
  makes: 'image',
  about: 'People and scenes that look photographed.',
  fields: [aspectRatio(['1:1', '4:3', '3:2', '16:9', '3:4', '2:3', '9:16', '21:9']), pictures, seed],
};
