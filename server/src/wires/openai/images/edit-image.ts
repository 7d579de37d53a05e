import { pictureDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { KONTEXT_STARTER } from '@bakehouse/contract/generators/flux-kontext';
import { deployedFields } from '@bakehouse/contract/generators/parameters/parameters';
import { editImageFields, type editImage as endpoint } from '@bakehouse/contract/openai-images';
import type * as z from 'zod';
import type { IdleCredit } from '../../../modules/credits/usage/with-idle-credit.ts';
import { findNamedImageDeployment } from '../../../modules/deployments/images/image-deployments.ts';
import { readShape } from '../../../modules/generations/generators/parameters.ts';
import { storePicture } from '../../../modules/generations/sources/pictures.ts';
import { sentPicture } from '../../../modules/generations/sources/sources.ts';
import { awaitCompleted } from '../../../modules/generations/start/await-completed.ts';
import type { GenerationRequest } from '../../../modules/generations/start/generation-request.ts';
import { findRepeatedCall, startGeneration } from '../../../modules/generations/start/start-generation.ts';
import { findEditor } from '../../../modules/images/edits.ts';
import { receivePicture } from '../../../modules/media/receive-picture.ts';
import { findUpstreams } from '../../../modules/providers/find-upstreams.ts';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { parseFields } from '../../../platform/http/bodies/parse-fields.ts';
import {
  answerImages,
  assertSupportedFields,
  deployedParameters,
  listPictureModels,
  said,
} from './images.ts';

const PART = 'image';
const GENERATOR = 'flux-kontext';
/** The starter model edits the centre square of a picture; other models preserve its shape. */
const STARTER_SHAPES = ['1:1'];
/** Few steps are enough for the starter model, and the client is waiting. */
const PARAMETERS = { num_inference_steps: 20 };

/**
 * Edits a picture for OpenAI's images API with the caller's Kontext deployment named in `model`, with the
 * shared service if that is `flux-kontext`, else with the starter. Throws the errors of `receivePicture`,
 * `storePicture`, `startGeneration` and `awaitCompleted`, and AppError 'invalid_request' or 'model_not_found'
 * with the unsupported field.
 */
export async function editImage(
  ctx: Context,
  usage: IdleCredit,
  { request, client }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const asked = await receivePicture(ctx, request, PART, async ({ bytes, fields }) => {
    const { prompt, response_format, ...choices } = parseFields(editImageFields, fields);
    const picture = sentPicture(ctx, bytes, PART, () => storePicture(ctx, bytes, PART));
    const edit = {
      sent: { prompt, ...choices, picture: picture.sha256 },
      read: async () => {
        const editor = await chooseEditor(ctx, choices);
        return { generator: GENERATOR, prompt, ...editor, source: await picture.read() } as const;
      },
    };
    const { id } = await startGeneration(ctx, usage, edit, await findRepeatedCall(ctx, request));
    return { id, format: response_format ?? null };
  });
  return answerImages(ctx, await awaitCompleted(ctx, asked, client), asked.format);
}

type Choices = Pick<z.output<typeof editImageFields>, 'model' | 'size' | (typeof deployedFields)[number]>;

/**
 * Returns the editing model or service, and the parameters that differ from its form's defaults. Throws
 * AppError with the unsupported field.
 */
async function chooseEditor(
  ctx: Context,
  choices: Choices,
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
    return { service, parameters: said(choices) };
  }
  assertSupportedFields(choices, { model: KONTEXT_STARTER, models, fields: deployedFields });
  readShape(choices.size, { model: KONTEXT_STARTER, shapes: STARTER_SHAPES });
  const model = await findEditor(ctx, { model: KONTEXT_STARTER });
  return { model, parameters: deployedParameters('flux-kontext', choices, PARAMETERS) };
}
