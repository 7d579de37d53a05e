import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createVideo } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import type { VideoAsked } from '../generations/queries.ts';
import type { SentPicture } from '../generations/sources/sent-picture.ts';
import { chooseProvider } from '../generations/start/choose-provider.ts';
import type { GenerationRequest } from '../generations/start/generation-request.ts';
import { startGeneration } from '../generations/start/start-generation.ts';
import { findVideoModel } from './find-video-model.ts';
import { readVideoParameters } from './read-video-parameters.ts';

/** A video call without its first picture. */
export type VideoBody = Omit<InputOf<typeof createVideo>['body'], 'image' | 'image_url'>;

type VideoCall = {
  /** The call's input without the picture; identifies a repeated Idempotency-Key. */
  sent: object;
  /** Resolves the input. Called only for the first call, because deployments end. */
  readBody: () => Promise<VideoBody>;
  picture: SentPicture | null;
};

/**
 * Starts a video. Throws whatever `findVideoModel`, `readVideoParameters`, `startGeneration`, `readBody` and
 * `picture` throw.
 */
export async function startVideo(
  ctx: Context,
  usage: IdleCredit,
  { sent, readBody, picture }: VideoCall,
): Promise<{ id: string }> {
  const read = async () => ({
    ...(await readRequest(ctx, await readBody())),
    ...(picture && { source: await picture.read() }),
  });
  const call = { sent: { ...sent, picture: picture?.sha256 ?? null }, read };
  return startGeneration(ctx, usage, call).catch((error: unknown) => {
    throw withOwnField(error);
  });
}

async function readRequest(ctx: Context, body: VideoBody): Promise<GenerationRequest> {
  const named = await findVideoModel(ctx, body.model);
  const { form } = await chooseProvider(ctx, named);
  const asked = askedBy(body);
  const parameters = readVideoParameters(named.generator, form, asked);
  return { ...named, prompt: body.prompt, parameters, asked };
}

/** Returns the requested settings with undefined for missing ones. */
function askedBy(body: VideoBody): VideoAsked {
  return {
    duration: body.duration ?? undefined,
    quality: body.quality ?? undefined,
    aspect_ratio: body.aspect_ratio ?? undefined,
    negative_prompt: body.negative_prompt ?? undefined,
    enhance_prompt: body.enhance_prompt ?? undefined,
    person_generation: body.safety_settings?.person_generation ?? undefined,
    generate_audio: body.generate_audio ?? undefined,
    seed: body.seed ?? undefined,
  };
}

/** Removes the `parameters.` prefix, because these fields are at the top level here. */
function withOwnField(error: unknown): unknown {
  if (!(error instanceof AppError) || !error.param?.startsWith('parameters.')) return error;
  const { code, publicMessage, param } = error;
  return new AppError(code, { publicMessage, param: param.slice('parameters.'.length), cause: error });
}
