import { type Price, partsPerUnit } from './prices.ts';

export type QuoteItem = {
  price: Price;
  /** Milliseconds (times GPUs) for hourly prices; tokens, expert steps or pictures for others. */
  parts: bigint;
  /** Replaces the price's label. */
  label?: string;
};

/**
 * Returns the cost in micro-BGL, for estimates, holds and charges alike: each item costs parts × unit price,
 * rounded up to the next micro-BGL.
 */
export function costMicro(items: QuoteItem[]): bigint {
  return items.reduce((sum, item) => sum + itemCostMicro(item), 0n);
}

function itemCostMicro({ price, parts }: QuoteItem): bigint {
  if (parts < 0n) throw new Error(`A quote cannot hold ${parts} of ${price.id}`);
  const divisor = partsPerUnit[price.unit];
  return (parts * price.unitPriceMicro + divisor - 1n) / divisor;
}
