import type { Quote } from '@bakehouse/contract/credits';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import { costMicro, type QuoteItem } from './cost-micro.ts';
import { partsPerUnit } from './prices.ts';

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
