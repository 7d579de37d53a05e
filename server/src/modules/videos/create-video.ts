import type { InputOf } from '@bakehouse/contract/endpoint';
import type { createVideo as endpoint, Video } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { Http } from '../../platform/http/bind.ts';
import { clientSignal } from '../../platform/http/client-signal.ts';
import type { IdleCredit } from '../credits/usage/with-idle-credit.ts';
import type { VideoAsked } from '../generations/queries.ts';
import { fetchPicture } from '../generations/sources/fetch-picture.ts';
import { sentPicture } from '../generations/sources/sent-picture.ts';
import { chooseProvider } from '../generations/start/choose-provider.ts';
import type { GenerationRequest } from '../generations/start/generation-request.ts';
import { startGeneration } from '../generations/start/start-generation.ts';
import { findVideoModel } from './find-video-model.ts';
import { getVideo } from './get-video.ts';
import { readVideoParameters } from './read-video-parameters.ts';

type Body = InputOf<typeof endpoint>['body'];

/** Starts a video. Throws what `findVideoModel`, `readVideoParameters`, `fetchPicture` and `startGeneration` throw. */
export async function createVideo(
  ctx: Context,
  usage: IdleCredit,
  { image, image_url, ...body }: Body,
  { request, reply }: Http,
): Promise<Video> {
  const address = image ?? image_url ?? null;
  const picture =
    address === null
      ? null
      : sentPicture(ctx, address, 'image', () =>
          fetchPicture(ctx, address, { param: 'image', signal: clientSignal(reply) }),
        );
  const sent = { ...body, picture: picture?.sha256 ?? null };
  const read = async () => ({
    ...(await readRequest(ctx, body)),
    ...(picture && { source: await picture.read() }),
  });
  const { id } = await startGeneration(ctx, usage, { sent, read }).catch((error: unknown) => {
    throw withOwnField(error);
  });
  request.leaveBodyRoom();
  return getVideo(ctx, { id });
}

async function readRequest(
  ctx: Context,
  body: Omit<Body, 'image' | 'image_url'>,
): Promise<GenerationRequest> {
  const named = await findVideoModel(ctx, body.model);
  const { form } = await chooseProvider(ctx, named);
  const asked = askedBy(body);
  const parameters = readVideoParameters(named.generator, form, asked);
  return { ...named, prompt: body.prompt, parameters, asked };
}

/** What it says of the video, in its own words. */
function askedBy(body: Omit<Body, 'image' | 'image_url'>): VideoAsked {
  return {
    duration: body.duration ?? undefined,
    quality: body.quality ?? undefined,
    aspect_ratio: body.aspect_ratio ?? undefined,
    negative_prompt: body.negative_prompt ?? undefined,
    enhance_prompt: body.enhance_prompt ?? undefined,
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
