import type { GeneratorName } from '@bakehouse/contract/generators';
import type { ParameterValue } from '@bakehouse/contract/generators/parameters/parameters';
import { as, asNumber, oneOf, type UpstreamModel, type VideoOptions } from './field-mappers.ts';

const seed = { seed: as('seed') };
const negative = { negative_prompt: as('negative_prompt') };
const ratio = { aspect_ratio: as('aspect_ratio') };
const resolution = { quality: as('resolution') };
const veoResolution = { quality: oneOf('resolution', { hd: '720p', fhd: '1080p' }) };
const sound = { generate_audio: as('generate_audio') };
/** fal expects the seconds as a string. */
const falSeconds = { duration: as('duration') };
const seconds = { duration: asNumber('duration') };
const falPicture = (address: string) => ({ image_url: address });

/** Google makes 1080p videos only with a duration of eight seconds. */
function veoProblem({ quality, duration }: Readonly<Record<string, ParameterValue>>) {
  if (quality !== 'fhd' || duration === '8') return null;
  return { field: 'duration', message: 'Duration must be 8 if Quality is fhd' };
}

/** In a video that starts from a picture, Google allows only adults. */
function personGeneration({ person_generation: asked }: VideoOptions, hasPicture: boolean) {
  if (!asked) return {};
  const all = hasPicture ? 'allow_adult' : 'allow_all';
  return { personGeneration: asked === 'allow' ? all : asked };
}

/** Services of each video generator, the maker's own first (see `upstream-models.ts`). */
export const upstreamVideos = {
  veo: [
    {
      service: 'google',
      model: 'veo-3.0-generate-001',
      fields: {
        duration: asNumber('durationSeconds'),
        ...veoResolution,
        negative_prompt: as('negativePrompt'),
      },
      picture: (address) => ({ image: address }),
      always: { aspectRatio: '16:9' },
      wishes: personGeneration,
      problem: veoProblem,
    },
    {
      service: 'fal',
      model: 'fal-ai/veo3',
      pictureModel: 'fal-ai/veo3/image-to-video',
      fields: {
        duration: (value) => ({ duration: `${String(value)}s` }),
        ...{ ...veoResolution, ...sound, ...negative, ...seed },
      },
      picture: falPicture,
      always: { aspect_ratio: '16:9' },
      wishes: ({ enhance_prompt }) => ({ enhance_prompt: enhance_prompt ?? true }),
    },
    {
      service: 'replicate',
      model: 'google/veo-3',
      fields: { ...seconds, ...veoResolution, ...sound, ...negative, ...seed },
      picture: (address) => ({ image: address }),
      always: { aspect_ratio: '16:9' },
    },
  ],
  seedance: [
    {
      service: 'byteplus',
      model: 'seedance-1-0-pro-250528',
      fields: { aspect_ratio: as('ratio'), ...seconds, ...resolution, ...seed },
      // The video gets the aspect ratio of the picture.
      picture: (address) => ({ first_frame: address, ratio: 'adaptive' }),
      always: { watermark: false, camera_fixed: false },
    },
    {
      service: 'fal',
      model: 'fal-ai/bytedance/seedance/v1/pro/text-to-video',
      pictureModel: 'fal-ai/bytedance/seedance/v1/pro/image-to-video',
      fields: { ...ratio, ...falSeconds, ...resolution, ...seed },
      picture: falPicture,
      always: { enable_safety_checker: true },
    },
    {
      service: 'replicate',
      model: 'bytedance/seedance-1-pro',
      fields: { ...ratio, ...seconds, ...resolution, ...seed },
      picture: (address) => ({ image: address }),
    },
  ],
  kling: [
    {
      service: 'fal',
      model: 'fal-ai/kling-video/v2.5-turbo/pro/text-to-video',
      pictureModel: 'fal-ai/kling-video/v2.5-turbo/pro/image-to-video',
      fields: { ...ratio, ...falSeconds, ...negative },
      picture: falPicture,
    },
    {
      service: 'replicate',
      model: 'kwaivgi/kling-v2.5-turbo-pro',
      fields: { ...ratio, ...seconds, ...negative },
      picture: (address) => ({ start_image: address }),
    },
  ],
  // Both services make 768p for both durations. 1080p would need another model, or a duration of six seconds.
  hailuo: [
    {
      service: 'fal',
      model: 'fal-ai/minimax/hailuo-02/standard/text-to-video',
      pictureModel: 'fal-ai/minimax/hailuo-02/standard/image-to-video',
      fields: falSeconds,
      picture: falPicture,
    },
    {
      service: 'replicate',
      model: 'minimax/hailuo-02',
      fields: seconds,
      picture: (address) => ({ first_frame_image: address }),
      always: { resolution: '768p' },
    },
  ],
  wan: [
    {
      service: 'fal',
      model: 'fal-ai/wan/v2.2-5b/text-to-video',
      pictureModel: 'fal-ai/wan/v2.2-5b/image-to-video',
      fields: {
        ...{ ...ratio, ...negative, ...seed },
        // The model needs a multiple of four plus one frames, at 24 frames per second.
        duration: oneOf('num_frames', { 5: 121, 3: 73, 2: 49 }),
        guidance_scale: as('guidance_scale'),
        num_inference_steps: as('num_inference_steps'),
      },
      picture: falPicture,
      always: { resolution: '720p', frames_per_second: 24 },
    },
  ],
} as const satisfies Partial<Record<GeneratorName, readonly UpstreamModel[]>>;

/** Video generators that a service can serve. */
export type UpstreamVideo = keyof typeof upstreamVideos;
