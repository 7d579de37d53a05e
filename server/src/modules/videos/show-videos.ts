import type { Generation } from '@bakehouse/contract/generations';
import type { VideoGenerator } from '@bakehouse/contract/generators';
import type { GeneratorField } from '@bakehouse/contract/generators/generator';
import { generators } from '@bakehouse/contract/generators/table';
import { WAN_STARTER } from '@bakehouse/contract/generators/wan';
import { type Video, videoModels } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { findGenerations } from '../generations/find-generations.ts';
import type { VideoAsked } from '../generations/queries.ts';
import { findUpstreamModel } from '../providers/find-upstreams.ts';

/** Returns the caller's video generations in the format of the videos API. */
export async function showVideos(ctx: Context, generations: Generation[]): Promise<Video[]> {
  const ids = generations.map(({ id }) => id);
  const rows = await findGenerations(ctx.db, { ids, userId: ctx.caller.userId });
  return generations.map((generation) =>
    toVideo(ctx.config.publicUrl, generation, rows.get(generation.id)?.asked ?? null),
  );
}

const statuses = {
  queued: 'queued',
  starting: 'processing',
  running: 'processing',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'failed',
} as const satisfies Record<Generation['state'], Video['operation']['status']>;

function toVideo(publicUrl: string, generation: Generation, asked: VideoAsked | null): Video {
  const { id, model, prompt, parameters, seed, source, service } = generation;
  const generator = generation.generator as VideoGenerator;
  // Omitted fields have the full form's defaults; `parameters` are the provider's.
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
    // Without a thumbnail both addresses are equal.
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

/** Reasons are stored without a full stop. */
function sentence(reason: string): string {
  return reason.replace(/\.?$/, '.');
}

/** Returns the default of the generator's full form, for fields that the provider does not support. */
function defaultOf(generator: VideoGenerator, name: string): string | number | boolean | undefined {
  const fields: readonly GeneratorField[] = generators[generator].fields;
  const field = fields.find((one) => one.name === name);
  return field && 'default' in field ? field.default : undefined;
}
