import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { quoteGeneration as endpoint } from '@bakehouse/contract/generations';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import { chooseProvider } from './choose-provider.ts';
import { costOfGeneration } from './cost-of-generation.ts';
import { assertLoraSupported, readParameters, resolveNamedModel } from './parameters.ts';

/**
 * Returns the price of a generation. Throws the errors of `resolveNamedModel`, AppError 'invalid_request', and
 * 'conflict' for a generator that is not served.
 */
export async function quoteGeneration(
  ctx: Context,
  body: InputOf<typeof endpoint>['body'],
): Promise<ResponseOf<typeof endpoint>> {
  const { generator, model, service, parameters } = await resolveNamedModel(ctx, body);
  const chosen = await chooseProvider(ctx, { generator, model, service });
  assertLoraSupported(chosen, parameters);
  const prices = await readPrices(ctx.db, ctx.clock.now());
  const asked = { generator, parameters: readParameters(chosen.form, parameters) };
  return { cost: formatBgl(costOfGeneration(prices, chosen, asked)) };
}
