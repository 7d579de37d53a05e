import { aspectRatio, duration, firstFrame, guidance, negativePrompt, seed, steps } from './fields.ts';
import type { Generator } from './generator.ts';

/** Name of the starter model in the API. */
export const WAN_STARTER = 'wan-starter';

/** Values for Wan models of this server, for forms that do not have these fields. */
export const wanDefaults = { steps: 30, guidance: 5, seconds: 5, aspectRatio: '16:9' } as const;

export const wan: Generator = {
  title: 'Wan 2.2',
  maker: 'Alibaba',
  makes: 'video',
  starter: {
    model: WAN_STARTER,
    title: 'Wan starter',
    limits: '64 × 64, about 2 seconds, silent, best at single objects that move',
    qualities: [
      { label: 'Draft', settings: { guidance_scale: 3, num_inference_steps: 8 } },
      { label: 'Standard', settings: { guidance_scale: 3, num_inference_steps: 16 } },
      { label: 'API defaults', settings: {} },
    ],
    opensOn: 'Standard',
    fixed: { aspect_ratio: '1:1', duration: '2', quality: '64p' },
  },
  about: 'An open video model, which a deployment of your own can run.',
  // Prompts whose results can be recognised.
  examples: [
    'a red apple moves to the right',
    'a red heart comes nearer',
    'a lemon moves up',
    'a balloon moves up in the sky',
  ],
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
