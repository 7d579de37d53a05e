import type { listPrices as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import { prices } from './prices.ts';

/** The price list as the wire shows it. */
export function listPrices(): ResponseOf<typeof contract> {
  return {
    prices: prices.map(({ id, label, unit, unitPriceMicro }) => ({
      id,
      label,
      unit,
      unit_price: formatBgl(unitPriceMicro),
    })),
  };
}
