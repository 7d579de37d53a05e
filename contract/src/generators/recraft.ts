import { aspectRatio, style } from './fields.ts';
import type { Generator } from './generator.ts';

export const recraft: Generator = {
  title: 'Recraft V3',
  maker: 'Recraft',
  makes: 'image',
  about: 'Illustrations, logos and pictures with readable text.',
  fields: [
    aspectRatio(['1:1', '4:3', '16:9', '3:4', '9:16']),
    style(
      [
        { value: 'realistic_image', label: 'Photograph' },
        { value: 'digital_illustration', label: 'Illustration' },
        { value: 'digital_illustration/hand_drawn', label: 'Drawn by hand' },
        { value: 'digital_illustration/pixel_art', label: 'Pixel art' },
      ],
      'realistic_image',
    ),
  ],
};
