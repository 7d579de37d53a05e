import * as z from 'zod';
import { generationEstimate } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { idOf } from './fields/id.ts';
import { promptText } from './generations.ts';
import type { VideoGenerator } from './generators.ts';

/* The original product's videos API. Each video is a generation, and has the same id. */

/** Video generators with the names that calls accept. Answers contain the first name. */
export const videoModels = {
  veo: ['veo-3.0', 'veo-3', 'veo'],
  seedance: ['seedance-1-0-pro', 'seedance'],
  kling: ['kling'],
  hailuo: ['hailuo'],
  wan: ['wan-2.2-ti2v-5b', 'wan', 'Wan-AI/Wan2.2-TI2V-5B'],
} as const satisfies Record<VideoGenerator, readonly [string, ...string[]]>;

/** Large enough for a `data:` URL of a 20 MB picture and the other fields. */
export const VIDEO_BODY_BYTES_MAX = 28 * 1024 * 1024;

const videoId = z.object({ id: idOf('video') });
/** Text is accepted too, because forms and scripts send numbers as text. */
const seconds = z.coerce.number().int().min(1).max(60);

const asked = {
  /** E.g. seedance-1-0-pro or veo-3.0, the name of the caller's Wan deployment, or wan-starter. */
  model: z.string().min(1, 'model is required').max(200),
  /** In seconds, as offered by the model's form. */
  duration: seconds.nullish(),
  aspect_ratio: z.string().max(20).nullish(),
  /** If the model does not support it, 720p (Seedance) or hd (Veo) is used. */
  quality: z.string().max(20).nullish(),
  /** Ignored by Seedance, which generates no audio. */
  generate_audio: z.boolean().nullish(),
};

/** The provider: a named service, the caller's deployment, or the starter model. */
export const servedBy = z.object({ kind: z.enum(['service', 'deployment', 'starter']), name: z.string() });

export const video = z.object({
  id: z.string(),
  object: z.literal('video.generation'),
  /** Epoch seconds. */
  created: z.int(),
  model: z.string(),
  prompt: z.string(),
  /** What was requested; `choices` contains the actual values. */
  duration: z.number(),
  quality: z.string().nullable(),
  aspect_ratio: z.string(),
  /** True if the service was asked to improve the prompt. Only Veo at fal supports this. */
  enhance_prompt: z.boolean(),
  /** Null if no provider supports one, as for Seedance. */
  negative_prompt: z.string().nullable(),
  seed: z.number().nullable(),
  /** Link to the first frame; null if generated from the prompt only. */
  image: z.string().nullable(),
  generate_audio: z.boolean(),
  choices: z.array(
    z.object({
      index: z.int(),
      status: z.enum(['queued', 'processing', 'completed', 'failed']),
      progress_percentage: z.int(),
      /** Works without a key for a while. */
      video_url: z.string().nullable(),
      /** Null unless this server's files are in S3. */
      s3_video_url: z.string().nullable(),
      thumbnail_url: z.string().nullable(),
      finish_reason: z.enum(['completed', 'error', 'content_filter']).nullable(),
      has_audio: z.boolean().nullable(),
      /** Actual duration in seconds and size in pixels. */
      duration: z.number().nullable(),
      width: z.int().nullable(),
      height: z.int().nullable(),
      error: z.string().nullable(),
    }),
  ),
  operation: z.object({ status: z.enum(['queued', 'processing', 'completed', 'failed']) }),
  error_details: z.string().nullable(),
  served_by: servedBy,
  /** Links to the file, once it is completed. */
  data: z.array(z.object({ url: z.string() })),
});
export type Video = z.infer<typeof video>;

export const createVideo = endpoint({
  method: 'POST',
  path: '/v1/video/generations',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  isHeldInMemory: true,
  bodyBytesMax: VIDEO_BODY_BYTES_MAX,
  operation: 'generate video',
  summary: 'Start a video generation in the background',
  body: z.object({
    ...asked,
    prompt: promptText,
    negative_prompt: z.string().max(4_000).nullish(),
    enhance_prompt: z.boolean().nullish(),
    seed: z.coerce
      .number()
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .nullish(),
    /** The first frame: a link or a `data:` URL. */
    image: z.string().nullish(),
    /** Alias of `image` that some clients use. */
    image_url: z.string().nullish(),
    safety_settings: z
      .object({
        /** Accepted but ignored: no service has levels. */
        safety_level: z.enum(['low', 'medium', 'high']).nullish(),
        /** Sent to Google for Veo. Defaults to Google's default. */
        person_generation: z.enum(['allow', 'allow_all', 'allow_adult', 'dont_allow']).nullish(),
      })
      .nullish(),
  }),
  status: 202,
  response: video,
});

export const getVideo = endpoint({
  method: 'GET',
  path: '/v1/video/generations/:id',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'Get a video generation',
  params: videoId,
  response: video,
});

export const listVideos = endpoint({
  method: 'GET',
  path: '/v1/video/generations',
  access: 'key',
  scopes: ['read', 'inference'],
  operation: 'fetch video history',
  summary: 'List video generations, newest first',
  query: z.object({
    /** Only this model, by any of its names. */
    model_name: z.string().max(200).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(20),
    cursor: idOf('video').optional(),
  }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(video),
    next_cursor: z.string().nullable(),
  }),
});

export const deleteVideo = endpoint({
  method: 'DELETE',
  path: '/v1/video/generations/:id',
  access: 'key',
  scopes: ['inference'],
  operation: 'delete video',
  summary: 'Delete a video generation and its file, cancelling it if it is running',
  params: videoId,
  status: 204,
});

export const downloadVideo = endpoint({
  method: 'GET',
  path: '/v1/video/generations/:id/download',
  access: 'key',
  scopes: ['read', 'inference'],
  operation: 'download video',
  summary: 'Download a video; ranges are served',
  params: videoId,
  answers: { 'video/mp4': null },
});

export const estimateVideo = endpoint({
  method: 'POST',
  path: '/v1/video/generations/estimate-cost',
  access: 'key',
  scopes: ['read', 'inference'],
  operation: 'estimate video cost',
  summary: 'Estimate the cost of a video',
  body: z.object(asked),
  response: generationEstimate,
});
