import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { createImage as endpoint } from '@bakehouse/contract/images';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import type { IdleCredit } from '../../credits/usage/with-idle-credit.ts';
import { findNamedImageDeployment } from '../../deployments/pictures/find-named-image-deployment.ts';
import { startAndAwait } from '../start/start-and-await.ts';
import { answerImages } from './answer-images.ts';
import { readDeployedBody, readImageBody } from './image-body.ts';

/**
 * Draws a picture as OpenAI's images API does, with the caller's deployment of the name in `model`, else with what all have.
 * Throws what `startAndAwait` throws, and AppError 'invalid_request' or 'not_found' with the field that is not served.
 */
export async function createImage(
  ctx: Context,
  usage: IdleCredit,
  body: InputOf<typeof endpoint>['body'],
  { reply }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const deployed = body.model ? await findNamedImageDeployment(ctx, body.model) : null;
  const asked = deployed ? readDeployedBody(deployed.model_name, body) : readImageBody(ctx.config, body);
  const generation = await startAndAwait(ctx, usage, asked, reply);
  return answerImages(ctx, generation, body.response_format ?? 'url');
}
