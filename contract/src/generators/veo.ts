import { duration, firstFrame, negativePrompt, quality, seed } from './fields.ts';
import type { Generator } from './generator.ts';

export const veo: Generator = {
  title: 'Veo 3',
  maker: 'Google',
  makes: 'video',
  about: 'Short videos with matching sound.',
  fields: [
    firstFrame,
    duration([8, 6, 4]),
    quality(
      [
        { value: 'hd', label: 'HD, 720p' },
        { value: 'fhd', label: 'Full HD, 1080p' },
      ],
      'hd',
    ),
    {
      kind: 'flag',
      name: 'generate_audio',
      label: 'Sound',
      box: 'Add sound that fits the video',
      default: true,
    },
    negativePrompt(),
    seed,
  ],
};
