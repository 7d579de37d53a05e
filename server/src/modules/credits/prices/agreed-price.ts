import { defaultPrices, type Price, type PriceId } from './prices.ts';

/**
 * The price at which something was begun, as its row has it. It is one of an hour, as all are that rows keep; `id` may
 * be one that is not on the list any more.
 */
export function agreedPrice(id: string, unitPriceMicro: bigint): Price {
  const label = Object.hasOwn(defaultPrices, id) ? defaultPrices[id as PriceId].label : id;
  return { id: id as PriceId, label, unit: 'hour', unitPriceMicro };
}
