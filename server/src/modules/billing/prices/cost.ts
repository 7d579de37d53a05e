import type { Quote } from '@bakehouse/contract/credits';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import { conflict, messageWithAmounts } from '../../../platform/errors.ts';
import { defaultPrices, type Price, type PriceId, type PriceList, partsPerUnit } from './prices.ts';

/**
 * Returns the hourly price that was agreed when the work started. The price list may no longer contain `id`.
 */
export function agreedPrice(id: string, unitPriceMicro: bigint): Price {
  const label = Object.hasOwn(defaultPrices, id) ? defaultPrices[id as PriceId].label : id;
  return { id: id as PriceId, label, unit: 'hour', unitPriceMicro };
}

/**
 * Returns the current price of work that started earlier. If the price is no longer on the list, returns the
 * agreed price.
 */
export function currentPriceOf(
  prices: PriceList,
  { price_id, unit_price_micro }: { price_id: string; unit_price_micro: bigint },
): Price {
  return Object.hasOwn(prices, price_id)
    ? prices[price_id as PriceId]
    : agreedPrice(price_id, unit_price_micro);
}

export type QuoteItem = {
  price: Price;
  /**
   * Milliseconds (times GPUs) for hourly prices, otherwise the number of tokens, expert steps or pictures.
   */
  parts: bigint;
  /** Shown instead of the price's label. */
  label?: string;
};

/**
 * Returns the cost in micro-BGL. Estimates, holds and charges all use it. Each item costs its parts × the
 * unit price, rounded up to the next micro-BGL.
 */
export function costMicro(items: QuoteItem[]): bigint {
  return items.reduce((sum, item) => sum + itemCostMicro(item), 0n);
}

function itemCostMicro({ price, parts }: QuoteItem): bigint {
  if (parts < 0n) throw new Error(`A quote cannot hold ${parts} of ${price.id}`);
  const divisor = partsPerUnit[price.unit];
  return (parts * price.unitPriceMicro + divisor - 1n) / divisor;
}

/** Returns an itemised cost estimate. */
export function quote(items: QuoteItem[]): Quote {
  const total = costMicro(items);
  return {
    items: items.map(({ price, parts, label }) => ({
      label: label ?? price.label,
      quantity: Number(parts) / Number(partsPerUnit[price.unit]),
      unit: price.unit,
      unit_price: formatBgl(price.unitPriceMicro),
      amount: formatBgl(costMicro([{ price, parts }])),
    })),
    total: formatBgl(total),
    total_usd: formatUsd(total),
  };
}

type Costs = {
  /** The cost at the current prices. */
  micro: bigint;
  /** The quoted cost; undefined if the call has none. */
  maxMicro: bigint | undefined;
  /** The subject of the error, e.g. 'this run' in 'this run now costs 2 BGL'. */
  what: string;
  /** The request field that contains the quoted cost. */
  param: string;
};

/** Throws AppError 'conflict' with the new price if the cost exceeds the quoted cost. */
export function assertQuotedCost({ micro, maxMicro, what, param }: Costs): void {
  if (maxMicro === undefined || micro <= maxMicro) return;
  const template = `The price has changed: ${what} now costs {cost}`;
  const { publicMessage, data } = messageWithAmounts(template, { cost: formatBgl(micro) });
  throw conflict(publicMessage, { data, param });
}
