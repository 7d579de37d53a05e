import { Readable } from 'node:stream';
import { pictureDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Generation, GenerationParameters } from '@bakehouse/contract/generations';
import type { GeneratorName } from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { deployedFields, formOfDeployment } from '@bakehouse/contract/generators/parameters/parameters';
import { generators } from '@bakehouse/contract/generators/table';
import type { createImage } from '@bakehouse/contract/openai-images';
import { listImageModelNames } from '../../../modules/deployments/images/image-deployments.ts';
import { readOutputs } from '../../../modules/generations/generations.ts';
import { findServingStarter } from '../../../modules/generations/generators/generators.ts';
import type { GenerationRequest } from '../../../modules/generations/start/generation-request.ts';
import { readParameters } from '../../../modules/generations/start/parameters.ts';
import { listUpstreams } from '../../../modules/providers/find-upstreams.ts';
import type { Context } from '../../../platform/context.ts';
import { invalidParam, modelNotFound } from '../../../platform/errors.ts';
import { Answer } from '../../../platform/http/answer.ts';

/** The form of Paris has the field name of the original product. */
const parisNames: Partial<Record<string, string>> = { guidance_scale: 'cfg_scale' };

const readHere = new Set(['prompt', 'model', 'n', 'size', 'response_format', 'output_format']);

/** Fields that have no effect on the picture. */
const passedOver = new Set(['user', 'metadata', 'safety_identifier']);

/** Other known fields, each with the values that match what this server does. Forms send values as text. */
const known = new Map<string, readonly unknown[]>([
  // There is only one quality level. These are its names in two generations of OpenAI's models.
  ['quality', ['auto', 'standard', 'medium']],
  ['background', ['auto']],
  ['moderation', ['auto']],
  ['stream', [false, 'false']],
  ['partial_images', [0, '0']],
  ['style', []],
  ['output_compression', []],
  ['input_fidelity', []],
  ['seed', []],
  ['num_inference_steps', []],
  ['guidance_scale', []],
]);

type Images = ResponseOf<typeof createImage>;

/** The response as JSON, or as a stream of the same JSON. */
export type ImagesAnswer = Images | Answer<Readable>;

/**
 * Returns the pictures of a generation in the format of OpenAI's images API: as links or bytes, by default as
 * both, because OpenAI's models differ and clients read either field. Bytes are streamed, so that four
 * pictures of 20 MB are never completely in memory.
 */
export async function answerImages(
  ctx: Context,
  { id, created_at, outputs }: Generation,
  format: 'url' | 'b64_json' | null,
): Promise<ImagesAnswer> {
  // All pictures of a call have the same size.
  const [first] = outputs;
  const answer: Images = {
    created: Math.floor(Date.parse(created_at) / 1000),
    ...(first && {
      size: `${first.width}x${first.height}`,
      output_format: first.media_type.slice('image/'.length),
    }),
    data: outputs.map(({ url }) => ({
      ...(format !== 'b64_json' && { url: new URL(url, ctx.config.publicUrl).href }),
    })),
  };
  if (format === 'url') return answer;
  // With bytes, stream the same JSON.
  const pieces = withBytes(answer, await readOutputs(ctx, id));
  // In object mode, the stream would read sixteen pieces ahead of a slow client.
  const stream = Readable.from(pieces, { objectMode: false });
  return new Answer(stream, { headers: { 'content-type': 'application/json; charset=utf-8' } });
}

/** Yields the response as JSON, with the bytes of each picture. */
async function* withBytes({ data, ...answer }: Images, pictures: Readable[]): AsyncGenerator<string> {
  try {
    yield `${JSON.stringify(answer).slice(0, -1)},"data":[`;
    for (const [index, picture] of pictures.entries()) {
      const fields = Object.entries(data[index] ?? {}).map(
        ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)},`,
      );
      yield `${index === 0 ? '' : ','}{${fields.join('')}"b64_json":"`;
      yield* inBase64(picture);
      yield '"}';
    }
    yield ']}';
  } finally {
    for (const picture of pictures) picture.destroy();
  }
}

/** Encodes bytes in Base64. Up to two remaining bytes wait for the next piece. */
async function* inBase64(bytes: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let over = Buffer.alloc(0);
  for await (const piece of bytes) {
    const whole = Buffer.concat([over, piece]);
    const end = whole.length - (whole.length % 3);
    yield whole.toString('base64', 0, end);
    over = whole.subarray(end);
  }
  yield over.toString('base64');
}

type Field = (typeof deployedFields)[number];

type Given = Partial<Record<Field, number | null | undefined>>;

/**
 * Returns all parameters of a picture by a deployment, within the limits of the form. Fields that are not
 * sent have the values in `defaults`, otherwise the form's defaults. Throws AppError 'invalid_request' with
 * the field.
 */
export function deployedParameters(
  generator: Extract<GeneratorName, 'flux' | 'flux-kontext' | 'paris'>,
  given: Given,
  defaults: GenerationParameters = {},
): GenerationParameters {
  const nameOf = (field: Field) => (generator === 'paris' && parisNames[field]) || field;
  const chosen = deployedFields.flatMap((field) => {
    const value = given[field];
    return value === null || value === undefined ? [] : [[nameOf(field), value] as const];
  });
  const paramOf = (name: string) => deployedFields.find((field) => nameOf(field) === name) ?? name;
  const form = formOfDeployment(generators[generator]);
  return readParameters(form, { ...defaults, ...Object.fromEntries(chosen) }, { paramOf });
}

/**
 * Returns the names of the models that can generate or edit over OpenAI's API: the starter, services, and the
 * caller's deployments.
 */
export async function listPictureModels(ctx: Context, what: 'generates' | 'edits'): Promise<string[]> {
  const edits = what === 'edits';
  const own = await findServingStarter(ctx.db, edits ? 'flux-kontext' : 'paris');
  const services = listUpstreams(ctx.config)
    .map(({ generator }) => generator)
    .filter((name) => editsPictures(generators[name]) === edits);
  const deployed = await listImageModelNames(ctx, edits ? ['flux-kontext'] : pictureDeploymentKinds);
  return [...(own ? [own.modelName] : []), ...services, ...deployed];
}

type Served = {
  model: string;
  /** Names of the models that support the call. */
  models: readonly string[];
  /** Fields that these models support in addition. */
  fields?: readonly string[];
};

/** Throws AppError 'invalid_request' or 'model_not_found' if the model does not support a sent field. */
export function assertSupportedFields(
  body: { model?: string | null | undefined },
  { model: served, models, fields = [] }: Served,
): void {
  const sent: [string, unknown][] = Object.entries(body);
  for (const [name, value] of sent) {
    if (value === null || value === undefined || readHere.has(name) || passedOver.has(name)) continue;
    if (fields.includes(name) || known.get(name)?.includes(value)) continue;
    throw invalidParam(name, whyRefused(name));
  }
  const { model } = body;
  if (model && model !== served) {
    throw modelNotFound(
      `There is no model '${model}' that serves this call. Those that do: ${models.join(', ')}`,
    );
  }
}

function whyRefused(name: string): string {
  const neutral = known.get(name);
  if (!neutral) return `Unknown parameter: ${name.slice(0, 80)}`;
  const served = [...new Set(neutral.map(String))].join(' or ');
  return served === '' ? `${name} is not supported here` : `${name} must be ${served} here`;
}

/** Extensions of OpenAI's images API. */
export type Settings = Partial<Record<(typeof deployedFields)[number], number | null | undefined>>;

/** Returns the extension fields that are set in a call. */
export function requestedParameters(settings: Settings): GenerationRequest['parameters'] {
  return Object.fromEntries(
    deployedFields.flatMap((name) => {
      const value = settings[name];
      return value === undefined || value === null ? [] : [[name, value] as const];
    }),
  );
}
