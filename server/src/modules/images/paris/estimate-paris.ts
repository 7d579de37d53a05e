import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { clampParis } from '@bakehouse/contract/generators/parameters/clamp-paris';
import { PARIS_MODEL } from '@bakehouse/contract/generators/paris';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import type { estimateParis as endpoint } from '@bakehouse/contract/paris';
import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { readPrices } from '../../credits/prices/read-prices.ts';
import { costOfGeneration } from '../../generations/start/cost-of-generation.ts';

/**
 * Returns the price of one Paris picture, regardless of the requested number. Throws AppError 'not_found' for
 * another model.
 */
export async function estimateParis(
  { db, clock }: Context,
  { model, ...body }: InputOf<typeof endpoint>['body'],
): Promise<ResponseOf<typeof endpoint>> {
  if (model !== PARIS_MODEL) {
    throw new AppError('not_found', { publicMessage: `There is no price for ${model}`, param: 'model' });
  }
  const asked = { generator: 'paris' as const, parameters: clampParis(body) };
  const micro = costOfGeneration(
    await readPrices(db, clock.now()),
    { provider: 'own', queue: `starter:${model}` },
    asked,
  );
  const bgl = Number(formatBgl(micro));
  return {
    estimated_cost_tokens: bgl,
    estimated_cost_bgl: bgl,
    estimated_cost_usd: Number(formatUsd(micro)),
    currency: 'USD',
    is_free: micro === 0n,
  };
}
