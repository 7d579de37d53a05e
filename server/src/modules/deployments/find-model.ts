import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import type { PriceId } from '../credits/prices.ts';
import { openStarterServer } from './open-starter-server.ts';
import { findWay, type Way } from './queries.ts';
import type { ServingParts } from './serving-parts.ts';

/** The way to the caller's deployment, or to the starter model, of that name. Throws AppError 'not_found'. */
export async function findModel(ctx: Context, parts: ServingParts, modelName: string): Promise<Way> {
  const asked = { userId: ctx.caller.userId, modelName };
  const way = await findWay(ctx, asked);
  if (way) return way;
  // The first request for a starter model gives it its server.
  const opened = (await openStarterServer(ctx, parts, modelName)) ? await findWay(ctx, asked) : undefined;
  if (opened) return opened;
  throw new AppError('not_found', {
    publicMessage: `There is no model '${modelName}'. GET /v1/models lists those that answer; deploy a model to add it`,
    param: 'model',
  });
}

/** Prices of prompt and completion tokens where the way leads. */
export function tokenPrices(way: Pick<Way, 'accelerator'>): { prompt: PriceId; completion: PriceId } {
  return way.accelerator
    ? { prompt: 'prompt_tokens:GPU', completion: 'completion_tokens:GPU' }
    : { prompt: 'prompt_tokens:CPU', completion: 'completion_tokens:CPU' };
}
