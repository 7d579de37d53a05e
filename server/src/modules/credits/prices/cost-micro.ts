import { type Price, partsPerUnit } from './prices.ts';

export type QuoteItem = {
  price: Price;
  /** Milliseconds for a price per hour (times the number of GPUs), tokens, steps of an expert or pictures for the others. */
  parts: bigint;
  /** Instead of the price's own label. */
  label?: string;
};

/**
 * The one formula for estimate, hold and charge, in micro-BGL: each item is parts x unit price,
 * rounded up to the next micro-BGL, and the total is the sum of the items.
 */
export function costMicro(items: QuoteItem[]): bigint {
  return items.reduce((sum, item) => sum + itemCostMicro(item), 0n);
}

function itemCostMicro({ price, parts }: QuoteItem): bigint {
  if (parts < 0n) throw new Error(`A quote cannot hold ${parts} of ${price.id}`);
  const divisor = partsPerUnit[price.unit];
  return (parts * price.unitPriceMicro + divisor - 1n) / divisor;
}
