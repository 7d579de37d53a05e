import type { Quote } from '@bakehouse/contract/credits';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import { findPrice, type PriceId, type Unit } from './prices.ts';

/** How many of the parts that a meter counts make one unit: hours in milliseconds, tokens one by one. */
const partsPerUnit: Record<Unit, bigint> = { hour: 3_600_000n, million_tokens: 1_000_000n };

export type QuoteItem = {
  priceId: PriceId;
  /** Milliseconds for a price per hour (times the number of GPUs), tokens for a price per million tokens. */
  parts: bigint;
  /** Instead of the price's own label. */
  label?: string;
};

/** What a job costs, item by item. Pure: the same items always cost the same. */
export function quote(items: QuoteItem[]): Quote {
  const total = costMicro(items);
  return {
    items: items.map((item) => {
      const price = findPrice(item.priceId);
      return {
        label: item.label ?? price.label,
        quantity: Number(item.parts) / Number(partsPerUnit[price.unit]),
        unit: price.unit,
        unit_price: formatBgl(price.unitPriceMicro),
        amount: formatBgl(itemCostMicro(item)),
      };
    }),
    total: formatBgl(total),
    total_usd: formatUsd(total),
  };
}

/**
 * The one formula for estimate, hold and charge, in micro-BGL: each item is parts x unit price,
 * rounded up to the next micro-BGL, and the total is the sum of the items.
 */
export function costMicro(items: QuoteItem[]): bigint {
  return items.reduce((sum, item) => sum + itemCostMicro(item), 0n);
}

function itemCostMicro({ priceId, parts }: QuoteItem): bigint {
  if (parts < 0n) throw new Error(`A quote cannot hold ${parts} of ${priceId}`);
  const price = findPrice(priceId);
  const divisor = partsPerUnit[price.unit];
  return (parts * price.unitPriceMicro + divisor - 1n) / divisor;
}
