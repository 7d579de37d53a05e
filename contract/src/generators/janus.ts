import { guidance, pictures, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const janus: Generator = {
  title: 'Janus Pro',
  maker: 'DeepSeek',
  makes: 'image',
  about: 'A small open model that both understands and generates pictures.',
  fields: [guidance({ min: 1, max: 20, default: 5 }), pictures, seed],
};
