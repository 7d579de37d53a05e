import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation } from '@bakehouse/contract/generations';
import { makesVideos, type VideoGenerator, videoGenerators } from '@bakehouse/contract/generators';
import type { GeneratorField } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import {
  type createVideo as createVideoEndpoint,
  type estimateVideo as estimateVideoEndpoint,
  type listVideos as listVideosEndpoint,
  type Video,
  videoModels,
} from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { invalidRequest, notFound, notFoundError } from '../../platform/errors.ts';
import type { Answer } from '../../platform/http/answer.ts';
import { answerBlob, type FileRequest } from '../../platform/storage/answer-blob.ts';
import { contentDisposition } from '../assets/files/content-type.ts';
import { readPrices } from '../billing/prices/read-prices.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { deleteGeneration } from '../generations/end-generation.ts';
import {
  findGeneration,
  findGenerations,
  findOutputs,
  getGeneration,
  listGenerations,
} from '../generations/generations.ts';
import type { GenerationRow, OutputRow, VideoParameters } from '../generations/queries.ts';
import { fetchPicture, type SentPicture, sentPicture } from '../generations/sources/sources.ts';
import { chooseProvider } from '../generations/start/choose-provider.ts';
import { costOfGeneration } from '../generations/start/cost-of-generation.ts';
import { readParameters } from '../generations/start/parameters.ts';
import { findUpstreamModel } from '../providers/find-upstreams.ts';
import { findVideoModel, generatorNamed, readVideoParameters, startVideo } from './start-video.ts';

const statuses = {
  queued: 'queued',
  starting: 'processing',
  running: 'processing',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'failed',
} as const satisfies Record<Generation['state'], Video['operation']['status']>;

/** Starts a video. Throws the errors of `startVideo` and `fetchPicture`. */
export async function createVideo(
  ctx: Context,
  usage: IdleCredit,
  { image, image_url, ...body }: InputOf<typeof createVideoEndpoint>['body'],
  signal: AbortSignal,
): Promise<Video> {
  const address = image ?? image_url ?? null;
  const picture = address === null ? null : pictureAt(ctx, address, { param: 'image', signal });
  const { id } = await startVideo(ctx, usage, { sent: body, readBody: async () => body, picture });
  return getVideo(ctx, { id });
}

/** Wraps the picture at an address of the field `param`: a link or a `data:` URL. */
export function pictureAt(
  ctx: Context,
  address: string,
  { param, signal }: { param: string; signal: AbortSignal },
): SentPicture {
  return sentPicture(ctx, address, param, () => fetchPicture(ctx, address, { param, signal }));
}

/** The video file, its first frame, or a strip of several frames. */
type Variant = 'video' | 'thumbnail' | 'spritesheet';

/**
 * Returns a caller's video file, or a range of it. Throws AppError 'not_found' for an unknown video or a
 * missing variant, and 'invalid_request' if the video is not completed.
 */
export async function downloadVideo(
  ctx: Context,
  { id, variant = 'video' }: { id: string; variant?: Variant },
  request: FileRequest,
): Promise<Answer> {
  const { generator } = await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [output] = (await findOutputs(ctx.db, [id])).get(id) ?? [];
  if (!output) throw invalidRequest('Video not ready for download');
  const { sha256, sizeBytes, mediaType } = fileOf(output, variant);
  const name = `${generator}-${id.slice(-8)}.${mediaType.split('/')[1]}`;
  return answerBlob(ctx, request, {
    ...{ sha256, path: name, sizeBytes },
    headers: {
      'content-type': mediaType,
      'content-disposition': contentDisposition('attachment', name),
      'cache-control': 'private, no-store',
    },
  });
}

function fileOf(
  output: OutputRow,
  variant: Variant,
): { sha256: string; sizeBytes: number; mediaType: string } {
  const { sha256, size_bytes: bytes, media_type: mediaType } = output;
  if (variant === 'video') return { sha256, sizeBytes: Number(bytes), mediaType };
  const { thumbnail_sha256, thumbnail_bytes, strip_sha256, strip_bytes } = output;
  const [found, foundBytes] =
    variant === 'thumbnail' ? [thumbnail_sha256, thumbnail_bytes] : [strip_sha256, strip_bytes];
  // Services return only the video file, without pictures.
  if (found === null) throw notFoundError(`This video has no ${variant}`);
  return { sha256: found, sizeBytes: Number(foundBytes), mediaType: 'image/webp' };
}

/**
 * Returns the price of a video at its provider. Throws the errors of `findVideoModel`, `chooseProvider` and
 * `readVideoParameters`.
 */
export async function estimateVideo(
  ctx: Context,
  { model, duration, quality, aspect_ratio, generate_audio }: InputOf<typeof estimateVideoEndpoint>['body'],
): Promise<ResponseOf<typeof estimateVideoEndpoint>> {
  const named = await findVideoModel(ctx, model);
  const chosen = await chooseProvider(ctx, named);
  const given = readVideoParameters(named.generator, chosen.form, {
    duration: duration ?? undefined,
    quality: quality ?? undefined,
    aspect_ratio: aspect_ratio ?? undefined,
    generate_audio: generate_audio ?? undefined,
  });
  const parameters = readParameters(chosen.form, given);
  const prices = await readPrices(ctx.db, ctx.clock.now());
  const micro = costOfGeneration(prices, chosen, { generator: named.generator, parameters });
  const bgl = Number(formatBgl(micro));
  return {
    estimated_cost_tokens: bgl,
    estimated_cost_bgl: bgl,
    estimated_cost_usd: Number(formatUsd(micro)),
    currency: 'USD',
    is_free: micro === 0n,
  };
}

/** Returns the user's generation of a video. Throws AppError 'not_found', also for a picture. */
export async function findVideo(
  db: Database | Transaction,
  own: { id: string; userId: string },
): Promise<GenerationRow> {
  const row = await findGeneration(db, own);
  if (row && makesVideos(row.generator)) return row;
  throw notFound('Video');
}

/** Returns a video of the caller. Throws AppError 'not_found'. */
export async function getVideo(ctx: Context, { id }: { id: string }): Promise<Video> {
  await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [shown] = await showVideos(ctx, [await getGeneration(ctx, { id })]);
  if (!shown) throw new Error('showVideos returned no video');
  return shown;
}

/** Returns the caller's videos, newest first. Throws AppError 'invalid_request' for an unknown model. */
export async function listVideos(
  ctx: Context,
  { model_name: name, limit, cursor }: InputOf<typeof listVideosEndpoint>['query'],
): Promise<ResponseOf<typeof listVideosEndpoint>> {
  const generator = name === undefined ? undefined : generatorNamed(name);
  const by = generator ? { generators: [generator] } : { generators: videoGenerators, model: name };
  const page = await listGenerations(ctx, { ...by, limit, cursor });
  // An ended deployment has no name any more, but its videos are still listed. Report an unknown name only if
  // there are none.
  if (name !== undefined && page.generations.length === 0) await findVideoModel(ctx, name, 'model_name');
  return {
    object: 'list',
    data: await showVideos(ctx, page.generations),
    next_cursor: page.next_cursor,
  };
}

/** Returns the caller's video generations in the format of the videos API. */
export async function showVideos(ctx: Context, generations: Generation[]): Promise<Video[]> {
  const ids = generations.map(({ id }) => id);
  const rows = await findGenerations(ctx.db, { ids, userId: ctx.caller.userId });
  return generations.map((generation) =>
    toVideo(ctx.config.publicUrl, generation, rows.get(generation.id)?.asked ?? null),
  );
}

function toVideo(publicUrl: string, generation: Generation, asked: VideoParameters | null): Video {
  const { id, model, prompt, parameters, seed, source, service } = generation;
  const generator = generation.generator as VideoGenerator;
  // Fields that the call left out have the default of the generator's form. `parameters` belong to the
  // provider's form.
  const defaults = (name: string) => (asked ? undefined : parameters[name]) ?? defaultOf(generator, name);
  const choice = toChoice(publicUrl, generation);
  const quality = asked?.quality ?? defaults('quality') ?? null;
  const upstream = service === null ? undefined : findUpstreamModel(generator, model);
  const told = upstream?.wishes?.(asked ?? {}, source !== null);
  return {
    ...{ id, object: 'video.generation', prompt, seed },
    created: Math.floor(Date.parse(generation.created_at) / 1000),
    model: service === null && generator === 'wan' ? model : videoModels[generator][0],
    duration: Number(asked?.duration ?? defaults('duration')),
    quality: quality === null ? null : String(quality),
    aspect_ratio: String(asked?.aspect_ratio ?? defaults('aspect_ratio') ?? '16:9'),
    enhance_prompt: told?.enhance_prompt === true,
    negative_prompt: parameters.negative_prompt ? String(parameters.negative_prompt) : null,
    image: source && new URL(source.url, publicUrl).href,
    generate_audio: generator === 'veo' && (asked?.generate_audio ?? defaults('generate_audio')) !== false,
    choices: [choice],
    operation: { status: choice.status },
    error_details: choice.error,
    served_by: servedBy(generation),
    data: choice.video_url === null ? [] : [{ url: choice.video_url }],
  };
}

function servedBy({ service, model }: Generation): Video['served_by'] {
  if (service !== null) return { kind: 'service', name: service };
  return { kind: model === WAN_STARTER ? 'starter' : 'deployment', name: model };
}

function toChoice(publicUrl: string, generation: Generation): Video['choices'][number] {
  const { state, reason, refused, step, steps } = generation;
  const [output] = generation.outputs;
  const status = statuses[state];
  const url = output ? new URL(output.url, publicUrl) : null;
  const isOver = state === 'failed' || state === 'cancelled';
  return {
    index: 0,
    status,
    progress_percentage: state === 'completed' ? 100 : percentOf(step, steps),
    video_url: url?.href ?? null,
    s3_video_url: url && url.origin !== new URL(publicUrl).origin ? url.href : null,
    // Without a thumbnail, both addresses lead to the video.
    thumbnail_url:
      output && output.thumbnail_url !== output.url ? new URL(output.thumbnail_url, publicUrl).href : null,
    finish_reason: isOver
      ? refused
        ? 'content_filter'
        : 'error'
      : status === 'completed'
        ? 'completed'
        : null,
    has_audio: output?.has_audio ?? null,
    duration: output?.duration_s ?? null,
    width: output?.width ?? null,
    height: output?.height ?? null,
    error: isOver ? sentence(reason || 'It was cancelled') : null,
  };
}

function percentOf(step: number, steps: number): number {
  return steps > 0 ? Math.round((99 * step) / steps) : 0;
}

/** Returns the reason with exactly one full stop. Stored reasons have none or one. */
function sentence(reason: string): string {
  return reason.replace(/\.?$/, '.');
}

/**
 * Returns a field's default in the generator's full form, which has fields that the provider does not
 * support.
 */
function defaultOf(generator: VideoGenerator, name: string): string | number | boolean | undefined {
  const fields: readonly GeneratorField[] = generators[generator].fields;
  const field = fields.find((one) => one.name === name);
  return field && 'default' in field ? field.default : undefined;
}

/** Deletes a video of the caller. Throws AppError 'not_found', and the errors of `deleteGeneration`. */
export async function deleteVideo(ctx: Context, { id }: { id: string }): Promise<void> {
  await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  await deleteGeneration(ctx, { id });
}
