import { agreedPrice } from './agreed-price.ts';
import type { Price, PriceId, PriceList } from './prices.ts';

/** What something costs now that was agreed to before; what is not on the list any more stays at what was agreed. */
export function priceOfNow(
  prices: PriceList,
  { price_id, unit_price_micro }: { price_id: string; unit_price_micro: bigint },
): Price {
  return Object.hasOwn(prices, price_id)
    ? prices[price_id as PriceId]
    : agreedPrice(price_id, unit_price_micro);
}
