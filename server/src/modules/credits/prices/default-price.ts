import { defaultPrices, type Price, type PriceId } from './prices.ts';

/** What something costs until an operator changes it. */
export function defaultPrice(id: PriceId): Price {
  return defaultPrices[id];
}
