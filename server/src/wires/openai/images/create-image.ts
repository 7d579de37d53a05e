import { pictureDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { createImage as endpoint } from '@bakehouse/contract/openai-images';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { IdleCredit } from '../../../modules/credits/usage/with-idle-credit.ts';
import { findNamedImageDeployment } from '../../../modules/deployments/images/image-deployments.ts';
import { awaitCompleted } from '../../../modules/generations/start/await-completed.ts';
import { findRepeatedCall, startGeneration } from '../../../modules/generations/start/start-generation.ts';
import { readDeployedBody, readImageBody } from './image-body.ts';
import { answerImages, listPictureModels } from './images.ts';

/**
 * Generates a picture for OpenAI's images API with the caller's deployment named in `model`, else with a
 * shared model. Throws the errors of `startGeneration` and `awaitCompleted`, and AppError 'invalid_request'
 * or 'model_not_found' with the unsupported field.
 */
export async function createImage(
  ctx: Context,
  usage: IdleCredit,
  { response_format: format, ...sent }: InputOf<typeof endpoint>['body'],
  { request, client }: Http,
): Promise<ResponseOf<typeof endpoint>> {
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
