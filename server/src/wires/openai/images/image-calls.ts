import { type PictureDeploymentKind, pictureDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { InputOf } from '@bakehouse/contract/endpoint';
import { type GeneratorName, generatorNames } from '@bakehouse/contract/generators';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { deployedFields } from '@bakehouse/contract/generators/parameters/parameters';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { generators } from '@bakehouse/contract/generators/table';
import type { createImage as createImageEndpoint } from '@bakehouse/contract/openai-images';
import { editImageFields } from '@bakehouse/contract/openai-images';
import type * as z from 'zod';
import type { Config } from '../../../config.ts';
import type { IdleCredit } from '../../../modules/billing/usage/with-idle-credit.ts';
import { findNamedImageDeployment } from '../../../modules/deployments/images/image-deployments.ts';
import { readShape } from '../../../modules/generations/generators/parameters.ts';
import { storePicture } from '../../../modules/generations/sources/pictures.ts';
import { sentPicture } from '../../../modules/generations/sources/sources.ts';
import { awaitCompleted } from '../../../modules/generations/start/await-completed.ts';
import type { GenerationRequest } from '../../../modules/generations/start/generation-request.ts';
import { findRepeatedCall, startGeneration } from '../../../modules/generations/start/start-generation.ts';
import { findEditor } from '../../../modules/images/edits.ts';
import { receivePicture } from '../../../modules/media/receive-picture.ts';
import { findUpstreams, type Upstream } from '../../../modules/providers/find-upstreams.ts';
import type { Context } from '../../../platform/context.ts';
import { invalidParam } from '../../../platform/errors.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import {
  answerImages,
  assertSupportedFields,
  deployedParameters,
  type ImagesAnswer,
  listPictureModels,
  requestedParameters,
  type Settings,
} from './images.ts';

/**
 * Generates a picture for OpenAI's images API. Uses the caller's deployment named in `model`, otherwise a
 * shared model. Throws the errors of `startGeneration` and `awaitCompleted`. Throws AppError
 * 'invalid_request' or 'model_not_found' with the unsupported field.
 */
export async function createImage(
  ctx: Context,
  usage: IdleCredit,
  { response_format: format, ...sent }: InputOf<typeof createImageEndpoint>['body'],
  { request, client }: Http,
): Promise<ImagesAnswer> {
  const read = async () => {
    const deployed = sent.model
      ? await findNamedImageDeployment(ctx, sent.model, pictureDeploymentKinds)
      : null;
    if (deployed) return readDeployedBody(deployed, sent);
    const models = sent.model ? await listPictureModels(ctx, 'generates') : [];
    return readImageBody(ctx.config, sent, models);
  };
  const started = await startGeneration(ctx, usage, { sent, read }, await findRepeatedCall(ctx, request));
  return answerImages(ctx, await awaitCompleted(ctx, started, client), format ?? null);
}

type Body = InputOf<typeof createImageEndpoint>['body'];
type Deployed = { kind: PictureDeploymentKind; model_name: string };
type Choices = Pick<Body, 'n' | 'size' | 'output_format'>;

/** This server's own models only generate square pictures. */
const SQUARE = ['1:1'];
/** Settings for Paris models. Few steps and the best two experts are enough, and the client is waiting. */
const PARAMETERS = { num_inference_steps: 20, sampling_strategy: 'topk', k: 2 };
/** The guidance with which the figures in the starter's card were measured. */
const STARTER_GUIDANCE = 4;

/**
 * The generator of each kind of deployment. Kontext models can also generate without a picture, so they have
 * the generator `flux`.
 */
const generatorOf = {
  flux: 'flux',
  'flux-kontext': 'flux',
  paris: 'paris',
} as const satisfies Record<PictureDeploymentKind, GeneratorName>;

/**
 * Returns the generation that a call of OpenAI's API requests. `models` are the models that can generate.
 * Throws AppError 'invalid_request' or 'model_not_found' with the unsupported field.
 */
export function readImageBody(
  config: Pick<Config, 'upstreams'>,
  { prompt, ...body }: Body,
  models: readonly string[],
): GenerationRequest {
  const name = generatorNames.find(
    (one) => one === body.model && generators[one].makes === 'image' && !editsPictures(generators[one]),
  );
  const [upstream] = name ? findUpstreams(config, name) : [];
  if (upstream) {
    const { generator, fields } = upstream;
    assertSupportedFields(body, {
      model: generator,
      models,
      fields: deployedFields.filter((one) => fields.includes(one)),
    });
    return { generator, prompt, parameters: upstreamParameters(upstream, body) };
  }
  assertSupportedFields(body, { model: PARIS_MODEL, models, fields: deployedFields });
  readShape(body.size, { model: PARIS_MODEL, shapes: SQUARE });
  if (body.n && body.n > 1) throw invalidParam('n', `n: ${PARIS_MODEL} generates one picture per request`);
  const defaults = { ...PARAMETERS, cfg_scale: STARTER_GUIDANCE, output_format: body.output_format ?? 'png' };
  return { generator: 'paris', prompt, parameters: deployedParameters('paris', body, defaults) };
}

/**
 * Like `readImageBody`, but for a deployment of the caller. Fields that are not sent have the form's
 * defaults, or for Paris models the starter's settings. Throws the errors of `readImageBody`.
 */
export function readDeployedBody(
  { kind, model_name: model }: Deployed,
  { prompt, ...body }: Body,
): GenerationRequest {
  assertSupportedFields(body, { model, models: [model], fields: deployedFields });
  readShape(body.size, { model, shapes: SQUARE });
  const { n, output_format: format } = body;
  if (n && n > 1) throw invalidParam('n', `n: ${model} generates one picture per request`);
  const generator = generatorOf[kind];
  if (generator === 'paris') {
    const defaults = { ...PARAMETERS, output_format: format ?? 'png' };
    return { generator, model, prompt, parameters: deployedParameters(generator, body, defaults) };
  }
  if (format && format !== 'png')
    throw invalidParam('output_format', `output_format: ${model} makes PNG files`);
  return { generator, model, prompt, parameters: deployedParameters(generator, body) };
}

function upstreamParameters(
  { generator, fields }: Upstream,
  { n, size, output_format: format, ...settings }: Choices & Settings,
): GenerationRequest['parameters'] {
  if (format)
    throw invalidParam('output_format', `output_format: ${generator} has the one that its service makes`);
  if (n && n > 1 && !fields.includes('n'))
    throw invalidParam('n', `n: ${generator} generates one picture per request`);
  return { ...(n && n > 1 && { n }), ...shapeOf(generator, size), ...requestedParameters(settings) };
}

/** Returns the aspect ratio of a size, as a form parameter. */
function shapeOf(generator: Upstream['generator'], size: Choices['size']): GenerationRequest['parameters'] {
  const field = generators[generator].fields.find(({ name }) => name === 'aspect_ratio');
  const shapes = field?.kind === 'choice' ? field.options.map(({ value }) => value) : SQUARE;
  const shape = readShape(size, { model: generator, shapes });
  return field && shape !== null ? { aspect_ratio: shape } : {};
}

const PART = 'image';
const MASK_PART = 'mask';
const GENERATOR = 'flux-kontext';
/** The starter model only edits the centre square of a picture. Other models preserve its shape. */
const STARTER_SHAPES = ['1:1'];
/** Few steps are enough for the starter model, and the client is waiting. */
const EDIT_PARAMETERS = { num_inference_steps: 20 };

/**
 * Edits a picture for OpenAI's images API. Uses the caller's Kontext deployment named in `model`, the shared
 * service if `model` is `flux-kontext`, and otherwise the starter. Throws the errors of `receivePicture`,
 * `storePicture`, `startGeneration` and `awaitCompleted`. Throws AppError 'invalid_request' or
 * 'model_not_found' with the unsupported field.
 */
export async function editImage(
  ctx: Context,
  usage: IdleCredit,
  { request, client }: Http,
): Promise<ImagesAnswer> {
  const asked = await receivePicture(
    ctx,
    request,
    PART,
    async ({ bytes, second, fields }) => {
      const { prompt, response_format, ...choices } = parseFields(editImageFields, fields);
      const picture = sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
      const mask = second && sentPicture(ctx, second, MASK_PART, () => storePicture(ctx, second, MASK_PART));
      const edit = {
        sent: { prompt, ...choices, picture: picture.sha256, ...(mask && { mask: mask.sha256 }) },
        read: async () => {
          const editor = await chooseEditor(ctx, choices);
          const inputs = { source: await picture.read(), mask: await mask?.read() };
          return { generator: GENERATOR, prompt, ...editor, ...inputs } as const;
        },
      };
      const { id } = await startGeneration(ctx, usage, edit, await findRepeatedCall(ctx, request));
      return { id, format: response_format ?? null };
    },
    { optionalPart: MASK_PART },
  );
  return answerImages(ctx, await awaitCompleted(ctx, asked, client), asked.format);
}

type EditChoices = Pick<z.output<typeof editImageFields>, 'model' | 'size' | (typeof deployedFields)[number]>;

/**
 * Returns the model or service that edits, and the parameters that differ from its form's defaults. Throws
 * AppError with the unsupported field.
 */
async function chooseEditor(
  ctx: Context,
  choices: EditChoices,
): Promise<Pick<GenerationRequest, 'model' | 'service' | 'parameters'>> {
  const named = choices.model
    ? await findNamedImageDeployment(ctx, choices.model, pictureDeploymentKinds)
    : null;
  if (named?.kind === 'flux-kontext') {
    const model = named.model_name;
    assertSupportedFields(choices, { model, models: [model], fields: deployedFields });
    readShape(choices.size, { model, shapes: [] });
    return { model, parameters: deployedParameters('flux-kontext', choices) };
  }
  const models = choices.model ? await listPictureModels(ctx, 'edits') : [];
  const [upstream] = choices.model === GENERATOR ? findUpstreams(ctx.config, GENERATOR) : [];
  if (upstream) {
    const { title: service, fields } = upstream;
    assertSupportedFields(choices, {
      model: GENERATOR,
      models,
      fields: deployedFields.filter((one) => fields.includes(one)),
    });
    readShape(choices.size, { model: GENERATOR, shapes: [] });
    return { service, parameters: requestedParameters(choices) };
  }
  assertSupportedFields(choices, { model: KONTEXT_STARTER, models, fields: deployedFields });
  readShape(choices.size, { model: KONTEXT_STARTER, shapes: STARTER_SHAPES });
  const model = await findEditor(ctx, { model: KONTEXT_STARTER });
  return { model, parameters: deployedParameters('flux-kontext', choices, EDIT_PARAMETERS) };
}
