import { aspectRatio, negativePrompt, pictures, seed, style } from './fields.ts';
import type { Generator } from './generator.ts';

export const ideogram: Generator = {
  title: 'Ideogram V3',
  maker: 'Ideogram',
  makes: 'image',
  about: 'Posters and designs with text in them.',
  fields: [
    aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']),
    style(
      [
        { value: 'auto', label: 'Automatic' },
        { value: 'general', label: 'General' },
        { value: 'realistic', label: 'Realistic' },
        { value: 'design', label: 'Design' },
      ],
      'auto',
    ),
    negativePrompt(),
    pictures,
    seed,
  ],
};
