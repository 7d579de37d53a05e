import { defaultPrices, type Price, type PriceId } from './prices.ts';

/** The price at which something was begun, as its row has it; `id` is one that was written there. */
export function agreedPrice(id: string, unitPriceMicro: bigint): Price {
  return { ...defaultPrices[id as PriceId], unitPriceMicro };
}
