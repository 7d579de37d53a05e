import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId, toFlatId } from '@bakehouse/contract/fields/flat-id';
import type { Generation } from '@bakehouse/contract/generations';
import { videoGenerators } from '@bakehouse/contract/generators';
import type { Generator } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import {
  createOpenAiVideoFields,
  type listOpenAiVideos as listOpenAiVideosEndpoint,
  type OpenAiVideo,
  openAiVideoBody,
  VIDEO_PREFIX,
} from '@bakehouse/contract/openai-videos';
import type { Video } from '@bakehouse/contract/videos';
import type * as z from 'zod';
import type { IdleCredit } from '../../modules/billing/usage/with-idle-credit.ts';
import { getGeneration, listGenerations } from '../../modules/generations/generations.ts';
import { readShape, videoSize } from '../../modules/generations/generators/parameters.ts';
import { storePicture } from '../../modules/generations/sources/pictures.ts';
import { type SentPicture, sentPicture } from '../../modules/generations/sources/sources.ts';
import { receiveOptionalPicture } from '../../modules/media/receive-picture.ts';
import { findVideoModel, startVideo, type VideoBody } from '../../modules/videos/start-video.ts';
import { findVideo, pictureAt, showVideos } from '../../modules/videos/videos.ts';
import type { Context } from '../../platform/context.ts';
import type { Http } from '../../platform/http/bind.ts';
import { parseFields } from '../../platform/http/bodies/parse-fields.ts';

/** Aspect ratio of generators whose form has no field for it. */
const USUAL_SHAPE = '16:9';

const PART = 'input_reference';

/** Model for clients that send none. */
const MODEL = 'wan';

/**
 * Starts a video through OpenAI's videos API, from a form or JSON, optionally with a first picture. Throws
 * the errors of `receiveOptionalPicture`, `startVideo` and `readVideoSize`, which name the invalid field.
 */
export async function createOpenAiVideo(
  ctx: Context,
  usage: IdleCredit,
  { request, client }: Http,
): Promise<OpenAiVideo> {
  const start = (sent: Fields, picture: SentPicture | null) =>
    startVideo(ctx, usage, { sent, readBody: () => toVideoBody(ctx, sent), picture });
  const atLink = (address: string | undefined) =>
    address === undefined ? null : pictureAt(ctx, address, { param: PART, signal: client.signal });
  if (request.isMultipart()) {
    const { id } = await receiveOptionalPicture(ctx, request, PART, ({ bytes, fields }) => {
      const { 'input_reference[image_url]': link, ...sent } = parseFields(createOpenAiVideoFields, fields);
      const picture = bytes && sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
      return start(sent, picture ?? atLink(link));
    });
    return getOpenAiVideo(ctx, id);
  }
  const { input_reference: reference, ...sent } = parseFields(openAiVideoBody, request.body ?? {});
  const { id } = await start(sent, atLink(reference?.image_url));
  request.releaseBody();
  return getOpenAiVideo(ctx, id);
}

type Fields = Omit<z.output<typeof openAiVideoBody>, 'input_reference'>;

/** Converts the body to one of the native videos API. */
async function toVideoBody(
  ctx: Context,
  { prompt, model = MODEL, seconds, size }: Fields,
): Promise<VideoBody> {
  const generator: Generator = generators[(await findVideoModel(ctx, model)).generator];
  return {
    ...{ prompt, model },
    ...(seconds !== undefined && { duration: nearestLength(seconds, generator) }),
    ...(size !== undefined && readVideoSize(size, generator)),
  };
}

/** Returns a video of the caller by its generation's id. Throws AppError 'not_found'. */
export async function getOpenAiVideo(ctx: Context, id: string): Promise<OpenAiVideo> {
  await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [shown] = await showOpenAiVideos(ctx, [await getGeneration(ctx, { id })]);
  if (!shown) throw new Error('showOpenAiVideos returned no video');
  return shown;
}

/** Returns the caller's videos, newest first. Throws AppError 'not_found' if `after` does not exist. */
export async function listOpenAiVideos(
  ctx: Context,
  { limit, after }: InputOf<typeof listOpenAiVideosEndpoint>['query'],
): Promise<ResponseOf<typeof listOpenAiVideosEndpoint>> {
  const cursor = after && fromFlatId(after);
  if (cursor !== undefined) await findVideo(ctx.db, { id: cursor, userId: ctx.caller.userId });
  const page = await listGenerations(ctx, { generators: videoGenerators, limit, cursor });
  const data = await showOpenAiVideos(ctx, page.generations);
  return {
    ...{ object: 'list', data, has_more: page.next_cursor !== null },
    ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}

/**
 * Converts a size of OpenAI's videos API, such as `1280x720`, to the generator's form fields: the aspect
 * ratio, and the quality whose shorter side is nearest. Throws AppError 'invalid_request' if no field has
 * this shape, or if the size is invalid.
 */
function readVideoSize(
  size: string,
  { title, fields }: Generator,
): { aspect_ratio?: string; quality?: string } {
  const ratios = optionsOf(fields, 'aspect_ratio');
  const shape = readShape(size, { model: title, shapes: ratios.length > 0 ? ratios : [USUAL_SHAPE] });
  const short = Math.min(...size.split('x').map(Number));
  const off = (quality: string) => Math.abs(shortSide(quality) - short);
  const [quality] = optionsOf(fields, 'quality').toSorted((a, b) => off(a) - off(b));
  return {
    ...(shape !== null && ratios.length > 0 && { aspect_ratio: shape }),
    ...(shape !== null && quality !== undefined && { quality }),
  };
}

/**
 * Returns the duration in the generator's form that is nearest to this many seconds. Of two equally near
 * ones, returns the longer.
 */
function nearestLength(seconds: number, { fields }: Generator): number {
  const off = (length: number) => Math.abs(length - seconds);
  const lengths = optionsOf(fields, 'duration').map(Number);
  const [nearest = seconds] = lengths.toSorted((a, b) => off(a) - off(b) || b - a);
  return nearest;
}

function optionsOf(fields: Generator['fields'], name: string): string[] {
  const field = fields.find((one) => one.name === name);
  return field?.kind === 'choice' ? field.options.map(({ value }) => value) : [];
}

function shortSide(quality: string): number {
  const { width, height } = videoSize({ quality, aspect_ratio: USUAL_SHAPE });
  return Math.min(width, height);
}

/** Returns the caller's video generations in the format of OpenAI's API. */
async function showOpenAiVideos(ctx: Context, generations: Generation[]): Promise<OpenAiVideo[]> {
  const videos = await showVideos(ctx, generations);
  return videos.map((video, at) => toOpenAiVideo(video, generations[at]?.ended_at ?? null));
}

function toOpenAiVideo(video: Video, endedAt: string | null): OpenAiVideo {
  const { id, model, prompt, created, duration, quality, aspect_ratio, choices, operation } = video;
  const [choice] = choices;
  const asked = videoSize({ quality, aspect_ratio });
  const isCompleted = operation.status === 'completed';
  const { width, height } = { width: choice?.width ?? asked.width, height: choice?.height ?? asked.height };
  return {
    id: toFlatId(VIDEO_PREFIX, id),
    object: 'video',
    ...{ model, prompt, created_at: created },
    status: operation.status === 'processing' ? 'in_progress' : operation.status,
    progress: choice?.progress_percentage ?? 0,
    completed_at: isCompleted && endedAt !== null ? Math.floor(Date.parse(endedAt) / 1000) : null,
    expires_at: null,
    seconds: String(Math.round(choice?.duration ?? duration)),
    size: `${width}x${height}`,
    error: choice?.error ? { code: errorCode(choice.finish_reason), message: choice.error } : null,
    remixed_from_video_id: null,
    ...{ has_audio: choice?.has_audio ?? null, served_by: video.served_by },
  };
}

function errorCode(reason: Video['choices'][number]['finish_reason']): string {
  return reason === 'content_filter' ? 'moderation_blocked' : 'generation_failed';
}
