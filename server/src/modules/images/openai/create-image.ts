import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { createImage as endpoint } from '@bakehouse/contract/images';
import type { Context } from '../../../platform/context.ts';
import type { Http } from '../../../platform/http/bind.ts';
import { startAndAwait } from '../start/start-and-await.ts';
import { answerImages } from './answer-images.ts';
import { readImageBody } from './image-body.ts';

/** Draws a picture as OpenAI's images API does. Throws what `startAndAwait` throws. */
export async function createImage(
  ctx: Context,
  body: InputOf<typeof endpoint>['body'],
  { reply }: Http,
): Promise<ResponseOf<typeof endpoint>> {
  const generation = await startAndAwait(ctx, readImageBody(ctx.config, body), reply);
  return answerImages(ctx, generation, body.response_format ?? 'url');
}
