import { aspectRatio, duration, firstFrame, negativePrompt, quality, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const seedance: Generator = {
  title: 'Seedance 1.0 Pro',
  maker: 'ByteDance',
  makes: 'video',
  about: 'Smooth videos with several shots.',
  fields: [
    firstFrame,
    aspectRatio(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9']),
    duration([5, 10]),
    quality(
      [
        { value: '480p', label: '480p' },
        { value: '720p', label: 'HD, 720p' },
        { value: '1080p', label: 'Full HD, 1080p' },
      ],
      '720p',
    ),
    negativePrompt('blurry, distorted, low resolution, pixelated, oversaturated'),
    seed,
  ],
};
