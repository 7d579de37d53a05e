import { aspectRatio, duration, firstFrame, guidance, negativePrompt, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

/** What a Wan model of this installation is asked for by a form that does not say. */
export const wanDefaults = { steps: 30, guidance: 5, seconds: 5, aspectRatio: '16:9' } as const;

export const wan: Generator = {
  title: 'Wan 2.2',
  maker: 'Alibaba',
  makes: 'video',
  about: 'An open video model, which a deployment of your own can run.',
  fields: [
    firstFrame,
    aspectRatio(['16:9', '9:16']),
    duration([5, 3, 2]),
    guidance({ min: 1, max: 20, default: wanDefaults.guidance }),
    steps({ min: 1, max: 50, default: wanDefaults.steps }),
    negativePrompt(),
    seed,
  ],
};
