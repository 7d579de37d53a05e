import type { InputOf } from '@bakehouse/contract/endpoint';
import type { GenerationParameters } from '@bakehouse/contract/generations';
import { type VideoGenerator, videoGenerators } from '@bakehouse/contract/generators';
import type { Generator, GeneratorField } from '@bakehouse/contract/generators/generator';
import { completeParameters } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import { type createVideo, videoModels } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { AppError, invalidParam } from '../../platform/errors.ts';
import type { IdleCredit } from '../billing/usage/with-idle-credit.ts';
import { findNamedImageDeployment } from '../deployments/images/image-deployments.ts';
import { findServingStarter } from '../generations/generators/generators.ts';
import type { VideoParameters } from '../generations/queries.ts';
import type { SentPicture } from '../generations/sources/sources.ts';
import { chooseProvider } from '../generations/start/choose-provider.ts';
import type { GenerationRequest } from '../generations/start/generation-request.ts';
import { startGeneration } from '../generations/start/start-generation.ts';

/** Veo supports only this aspect ratio. */
const VEO_RATIO = '16:9';

/** The body of a video call without the first picture. */
export type VideoBody = Omit<InputOf<typeof createVideo>['body'], 'image' | 'image_url'>;

type VideoCall = {
  /** The input without the picture. It identifies a call that repeats its Idempotency-Key. */
  sent: object;
  /**
   * Resolves the input. Called only for the first of repeated calls: by the next one, a deployment may have
   * ended.
   */
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

/** Returns the settings of a request; those that are missing or null are undefined. */
function askedBy(body: VideoBody): VideoParameters {
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

/**
 * Removes the `parameters.` prefix of a field's name, because these fields are at the top level of this API.
 */
function withOwnField(error: unknown): unknown {
  if (!(error instanceof AppError) || !error.param?.startsWith('parameters.')) return error;
  const { code, publicMessage, param } = error;
  return new AppError(code, { publicMessage, param: param.slice('parameters.'.length), cause: error });
}

/**
 * Returns the parameters for the provider's form. Fields that only other providers support are omitted; an
 * unknown quality becomes the generator's default. Throws AppError 'invalid_request' with the invalid field.
 */
export function readVideoParameters(
  generator: VideoGenerator,
  form: Generator,
  asked: VideoParameters,
): GenerationParameters {
  if (generator === 'veo' && ![undefined, VEO_RATIO].includes(asked.aspect_ratio))
    throw invalidParam('aspect_ratio', `aspect_ratio must be ${VEO_RATIO} for ${generators.veo.title}`);
  const whole: Generator = generators[generator];
  const given = Object.fromEntries(
    whole.fields.flatMap((field) => {
      const value = valueOf(field, asked);
      return value === undefined ? [] : [[field.name, value] as const];
    }),
  );
  const { values, problem } = completeParameters(whole, given);
  if (problem) throw invalidParam(problem.field, problem.message);
  const taken = form.fields.map(({ name }) => name);
  return Object.fromEntries(Object.entries(values).filter(([name]) => taken.includes(name)));
}

function valueOf(field: GeneratorField, asked: VideoParameters): string | number | boolean | undefined {
  const value = asked[field.name as keyof VideoParameters];
  if (field.name === 'duration' && value !== undefined) return String(value);
  const isKnown = field.kind !== 'choice' || field.options.some((option) => option.value === value);
  return field.name === 'quality' && !isKnown ? undefined : value;
}

/** The generator of a video, and the name of the caller's model if the call names one. */
type Named = { generator: VideoGenerator; model?: string };

/** Returns the generator with this name, if any. */
export function generatorNamed(name: string): VideoGenerator | undefined {
  return videoGenerators.find((generator) => videoModels[generator].some((known) => known === name));
}

/**
 * Finds what a call names in `param`: a generator, a Wan deployment of the caller, or the Wan starter. Throws
 * AppError 'invalid_request'.
 */
export async function findVideoModel(ctx: Context, name: string, param = 'model'): Promise<Named> {
  const generator = generatorNamed(name);
  if (generator) return { generator };
  const deployed = await findNamedImageDeployment(ctx, name, ['wan']);
  if (deployed) return { generator: 'wan', model: deployed.model_name };
  const starter = await findServingStarter(ctx.db, 'wan');
  if (starter?.modelName === name) return { generator: 'wan', model: name };
  const known = [
    ...videoGenerators.map((one) => videoModels[one][0]),
    ...(starter ? [starter.modelName] : []),
  ];
  throw invalidParam(param, `${param} must be one of ${known.join(', ')}, or a Wan deployment of yours`);
}
