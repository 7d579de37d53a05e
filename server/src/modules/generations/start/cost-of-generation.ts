import { picturesAsked } from '@bakehouse/contract/generators/parameters/pictures-asked';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import type { PriceList } from '../../credits/prices/prices.ts';
import type { ChosenProvider } from './choose-provider.ts';
import { costOfPicture } from './cost-of-picture.ts';
import type { GenerationRequest } from './generation-request.ts';

/** What a generation costs in micro-BGL; at a service, its pictures. Pure. */
export function costOfGeneration(
  prices: PriceList,
  chosen: ChosenProvider,
  { generator, parameters }: Pick<GenerationRequest, 'generator' | 'parameters'>,
): bigint {
  if (chosen.provider === 'own') return costOfPicture(prices, { generator, parameters });
  const price = prices[`images:${chosen.upstream.generator}`];
  return costMicro([{ price, parts: BigInt(picturesAsked(parameters)) }]);
}
