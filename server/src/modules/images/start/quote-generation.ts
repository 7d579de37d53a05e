import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { quoteGeneration as endpoint } from '@bakehouse/contract/generations';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../../platform/context.ts';
import { readPrices } from '../../credits/prices/read-prices.ts';
import { costOfPicture } from './cost-of-picture.ts';
import { readParameters } from './read-parameters.ts';
import { requireOwnModel } from './require-own-model.ts';

/** What a generation costs. Throws AppError 'invalid_request', and 'conflict' for a generator that is not served. */
export async function quoteGeneration(
  ctx: Context,
  { generator, parameters }: InputOf<typeof endpoint>['body'],
): Promise<ResponseOf<typeof endpoint>> {
  await requireOwnModel(ctx, generator);
  return {
    cost: formatBgl(
      costOfPicture(await readPrices(ctx.db, ctx.clock.now()), {
        generator,
        parameters: readParameters(generator, parameters),
      }),
    ),
  };
}
