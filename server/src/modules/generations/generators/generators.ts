import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { endpointUrl } from '@bakehouse/contract/endpoint-url';
import {
  type GeneratorName,
  generatorNames,
  type listGenerators as listGeneratorsEndpoint,
} from '@bakehouse/contract/generators';
import { editsPictures } from '@bakehouse/contract/generators/generator';
import { completeParameters, formOfService } from '@bakehouse/contract/generators/parameters/parameters';
import { starterFor } from '@bakehouse/contract/generators/stand-in';
import { generators as table } from '@bakehouse/contract/generators/table';
import { starterAddress } from '@bakehouse/contract/kontext';
import { formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import type { PriceList } from '../../billing/prices/prices.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import { findStarterModel } from '../../models/starter/find-starter-model.ts';
import type { StarterModelRef } from '../../models/starter/starters.ts';
import { findUpstreams, isConnectable, type Upstream } from '../../providers/find-upstreams.ts';
import { costOfGeneration } from '../start/cost-of-generation.ts';

/**
 * Returns the starter model that serves the generator or substitutes for it; undefined if it is not
 * available.
 */
export async function findServingStarter(
  db: Database | Transaction,
  generator: GeneratorName,
): Promise<StarterModelRef | undefined> {
  return findStarterModel(db, starterFor(generator).starter.model);
}

type Answer = ResponseOf<typeof listGeneratorsEndpoint>;

/** Returns every generator with its providers on this server. */
export async function listGenerators(
  { db, clock, config }: Pick<Services, 'db' | 'clock' | 'config'>,
  isPreparing: () => Promise<boolean>,
): Promise<Answer> {
  const preparing = await isPreparing();
  const prices = await readPrices(db, clock.now());
  const generators = generatorNames.map(async (name) => {
    const own = await findServingStarter(db, name);
    const edits = editsPictures(table[name]);
    const upstreams = showUpstreams(config, prices, name);
    return {
      name,
      served_by: [...(upstreams.length > 0 ? ['upstream' as const] : []), ...(own ? ['own' as const] : [])],
      starter: own ? starterFor(name).starter.title : null,
      is_being_prepared: preparing && !own && upstreams.length === 0,
      is_connectable: isConnectable(name),
      upstreams,
      inference_url:
        own && edits
          ? new URL(endpointUrl(starterAddress, { model: own.modelName }), config.publicUrl).href
          : null,
    };
  });
  return { generators: await Promise.all(generators) };
}

/** Returns the price of one output with the form's default values. */
function priceOf(prices: PriceList, generator: Upstream['generator'], fields: string[]): bigint {
  const { values } = completeParameters(formOfService(table[generator], fields), {});
  const parameters = { ...values, ...(values?.n !== undefined && { n: 1 }) };
  return costOfGeneration(
    prices,
    { provider: 'upstream', upstream: { generator } },
    { generator, parameters },
  );
}

function showUpstreams(
  config: Services['config'],
  prices: PriceList,
  name: GeneratorName,
): Answer['generators'][number]['upstreams'] {
  return findUpstreams(config, name).map(({ generator, title, model, fields }) => ({
    ...{ title, model, fields },
    price: formatBgl(priceOf(prices, generator, fields)),
  }));
}
