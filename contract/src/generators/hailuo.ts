import { duration, firstFrame, quality } from './fields.ts';
import type { Generator } from './generator.ts';

export const hailuo: Generator = {
  title: 'Hailuo',
  maker: 'MiniMax',
  makes: 'video',
  about: 'Videos with realistic motion.',
  fields: [
    firstFrame,
    duration([6, 10]),
    quality(
      [
        { value: '768p', label: '768p' },
        { value: '1080p', label: 'Full HD, 1080p' },
      ],
      '768p',
    ),
  ],
};
