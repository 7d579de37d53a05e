import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { type listGenerators as endpoint, generatorNames } from '@bakehouse/contract/generators';
import { formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../platform/context.ts';
import { readPrices } from '../credits/prices/read-prices.ts';
import { findUpstream } from '../upstreams/find-upstream.ts';
import { findOwnModel } from './find-own-model.ts';

/** Every generator, and who draws for it here. */
export async function listGenerators({
  db,
  clock,
  config,
}: Pick<Services, 'db' | 'clock' | 'config'>): Promise<ResponseOf<typeof endpoint>> {
  const prices = await readPrices(db, clock.now());
  const generators = generatorNames.map(async (name) => {
    const own = await findOwnModel(db, name);
    const found = findUpstream(config, name);
    const upstream = found && {
      ...{ title: found.title, model: found.model, fields: found.fields },
      price: formatBgl(prices[`images:${found.generator}`].unitPriceMicro),
    };
    return {
      name,
      served_by: [...(own ? ['own' as const] : []), ...(upstream ? ['upstream' as const] : [])],
      upstream: upstream ?? null,
    };
  });
  return { generators: await Promise.all(generators) };
}
