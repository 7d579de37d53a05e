import { guidance, pictures, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const janus: Generator = {
  title: 'Janus Pro',
  maker: 'DeepSeek',
  makes: 'image',
  about: 'A small open model that understands pictures as well as it generates them.',
  fields: [guidance({ min: 1, max: 20, default: 5 }), pictures, seed],
};
