import { defaultPrices, type Price, type PriceId } from './prices.ts';

/** Returns a price before any change by an operator. */
export function defaultPrice(id: PriceId): Price {
  return defaultPrices[id];
}
