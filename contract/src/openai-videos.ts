import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { flatId } from './fields/flat-id.ts';
import { only } from './fields/only.ts';
import { promptText } from './generations.ts';
import { servedBy, VIDEO_BODY_BYTES_MAX } from './videos.ts';

/* OpenAI's videos API, for the same videos as in `videos.ts`. */

export const VIDEO_PREFIX = 'video_';
const videoParams = z.object({ video_id: flatId(VIDEO_PREFIX, 'video') });

/** Maximum videos per page. */
const VIDEOS_PER_PAGE_MAX = 100;

export const openAiVideo = z.object({
  id: z.string(),
  object: z.literal('video'),
  model: z.string(),
  status: z.enum(['queued', 'in_progress', 'completed', 'failed']),
  /** In percent. */
  progress: z.int(),
  created_at: z.int(),
  completed_at: z.int().nullable(),
  /** Videos never expire. */
  expires_at: z.null(),
  prompt: z.string(),
  /** Requested duration; actual duration once completed. */
  seconds: z.string(),
  /** Requested size, e.g. `1280x720`; actual size once completed. */
  size: z.string(),
  error: z.object({ code: z.string(), message: z.string() }).nullable(),
  remixed_from_video_id: z.null(),
  /** Additions to OpenAI's fields: whether the completed file has audio, and which provider generates it. */
  has_audio: z.boolean().nullable(),
  served_by: servedBy,
});
export type OpenAiVideo = z.infer<typeof openAiVideo>;

const SECONDS = 'seconds must be a whole number from 1 to 60';

const fields = {
  prompt: promptText,
  /** As in `POST /v1/video/generations`. Defaults to Wan. */
  model: z.string().min(1).max(200).optional(),
  /** Rounded to the nearest duration that the model supports. Defaults to the model's default. */
  seconds: z
    .union([z.int().min(1).max(60), z.string().regex(/^([1-9]|[1-5]\d|60)$/, SECONDS)], SECONDS)
    .transform(Number)
    .optional(),
  /** Any size in a supported shape, such as `1280x720`. The answer contains the actual size. */
  size: z.string().max(20).optional(),
};

/** A link to the first frame, or a `data:` URL. */
const imageUrl = z.string();

/** The other parts of the form. A link to a picture has the name that OpenAI's client uses in forms. */
export const createOpenAiVideoFields = only({
  ...fields,
  'input_reference[image_url]': imageUrl.optional(),
});

/** The same fields in a JSON body. */
export const openAiVideoBody = only({
  ...fields,
  input_reference: only({ image_url: imageUrl }).optional(),
});

export const createOpenAiVideo = endpoint({
  method: 'POST',
  path: '/v1/videos',
  access: 'key',
  scopes: ['inference'],
  spends: true,
  isHeldInMemory: true,
  bodyBytesMax: VIDEO_BODY_BYTES_MAX,
  operation: 'generate video',
  summary: 'Start a video (OpenAI-compatible)',
  upload: { part: 'input_reference', fields: createOpenAiVideoFields, orJson: openAiVideoBody },
  response: openAiVideo,
});

export const getOpenAiVideo = endpoint({
  method: 'GET',
  path: '/v1/videos/:video_id',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'Get a video (OpenAI-compatible)',
  params: videoParams,
  response: openAiVideo,
});

export const listOpenAiVideos = endpoint({
  method: 'GET',
  path: '/v1/videos',
  access: 'key',
  scopes: ['read', 'inference'],
  summary: 'List videos, newest first (OpenAI-compatible)',
  query: only({
    order: z.literal('desc', 'order must be desc: this server lists the newest first').optional(),
    limit: z.coerce.number().int().min(1).max(VIDEOS_PER_PAGE_MAX).default(20),
    after: flatId(VIDEO_PREFIX, 'video').optional(),
  }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(openAiVideo),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
});

export const deleteOpenAiVideo = endpoint({
  method: 'DELETE',
  path: '/v1/videos/:video_id',
  access: 'key',
  scopes: ['inference'],
  operation: 'delete video',
  summary: 'Delete a video and its file, cancelling it if it is running (OpenAI-compatible)',
  params: videoParams,
  response: z.object({ id: z.string(), object: z.literal('video.deleted'), deleted: z.literal(true) }),
});

export const getOpenAiVideoContent = endpoint({
  method: 'GET',
  path: '/v1/videos/:video_id/content',
  access: 'key',
  scopes: ['read', 'inference'],
  operation: 'download video',
  summary: 'Download a video, its first frame or a strip of its frames (OpenAI-compatible)',
  params: videoParams,
  query: only({ variant: z.enum(['video', 'thumbnail', 'spritesheet']).default('video') }),
  answers: { 'video/mp4': null, 'image/webp': null },
});
