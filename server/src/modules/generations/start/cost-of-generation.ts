import { picturesAsked } from '@bakehouse/contract/generators/parameters/pictures-asked';
import { costMicro } from '../../credits/prices/cost-micro.ts';
import type { PriceList } from '../../credits/prices/prices.ts';
import type { Upstream } from '../../providers/find-upstreams.ts';
import { ownGenerator } from '../generators/own-generators.ts';
import type { GenerationRequest } from './generation-request.ts';

type By = { provider: 'own' } | { provider: 'upstream'; upstream: Pick<Upstream, 'generator'> };

/** What a generation costs in micro-BGL; at a service, its pictures. Throws Error for a generator that is not served so. Pure. */
export function costOfGeneration(
  prices: PriceList,
  by: By,
  { generator, parameters }: Pick<GenerationRequest, 'generator' | 'parameters'>,
): bigint {
  if (by.provider === 'upstream') {
    const price = prices[`images:${by.upstream.generator}`];
    return costMicro([{ price, parts: BigInt(picturesAsked(parameters)) }]);
  }
  const own = ownGenerator(generator);
  if (!own) throw new Error(`no model here serves ${generator}`);
  return own.cost(prices, parameters);
}
