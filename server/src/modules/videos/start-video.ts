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

/** What a call says of a video, beside the picture that it begins with. */
export type VideoBody = Omit<InputOf<typeof createVideo>['body'], 'image' | 'image_url'>;

type VideoCall = {
  /** What came in beside the picture: a call that is repeated with its Idempotency-Key is known by it. */
  sent: object;
  /** What that asks for. Looked up for the first call alone: deployments end. */
  readBody: () => Promise<VideoBody>;
  picture: SentPicture | null;
};

/** Starts a video. Throws what `findVideoModel`, `readVideoParameters` and `startGeneration` throw, and `readBody` and `picture`. */
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

/** What it says of the video, in its own words. */
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

/** The fields of this call are no parameters of another one. */
function withOwnField(error: unknown): unknown {
  if (!(error instanceof AppError) || !error.param?.startsWith('parameters.')) return error;
  const { code, publicMessage, param } = error;
  return new AppError(code, { publicMessage, param: param.slice('parameters.'.length), cause: error });
}
