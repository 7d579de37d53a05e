import { defaultPrices, type Price, type PriceId, type PriceList } from './prices.ts';

/** Returns the hourly price at which work was started. `id` may no longer be on the price list. */
export function agreedPrice(id: string, unitPriceMicro: bigint): Price {
  const label = Object.hasOwn(defaultPrices, id) ? defaultPrices[id as PriceId].label : id;
  return { id: id as PriceId, label, unit: 'hour', unitPriceMicro };
}

/** Returns the current price of work that started earlier; the agreed price if it is off the list. */
export function priceOfNow(
  prices: PriceList,
  { price_id, unit_price_micro }: { price_id: string; unit_price_micro: bigint },
): Price {
  return Object.hasOwn(prices, price_id)
    ? prices[price_id as PriceId]
    : agreedPrice(price_id, unit_price_micro);
}
