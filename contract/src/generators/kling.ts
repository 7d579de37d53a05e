import { aspectRatio, duration, firstFrame, negativePrompt } from './fields.ts';
import type { Generator } from './generator.ts';

export const kling: Generator = {
  title: 'Kling',
  maker: 'Kuaishou',
  makes: 'video',
  about: 'Lively motion from a description.',
  fields: [firstFrame, aspectRatio(['16:9', '9:16', '1:1']), duration([5, 10]), negativePrompt()],
};
