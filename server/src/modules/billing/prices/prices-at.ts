import { defaultPrices, type PriceList } from './prices.ts';

/** A change that was not withdrawn. */
export type PriceChange = { id: string; price_id: string; unit_price_micro: bigint; valid_from: Date };

/** Returns the prices at a time: each from its latest effective change, or the default. */
export function pricesAt(changes: readonly PriceChange[], at: Date): PriceList {
  const inForce = new Map<string, PriceChange>();
  for (const change of changes) {
    const known = inForce.get(change.price_id);
    if (change.valid_from <= at && (known === undefined || isLater(change, known)))
      inForce.set(change.price_id, change);
  }
  return Object.fromEntries(
    Object.values(defaultPrices).map((price) => {
      const unitPriceMicro = inForce.get(price.id)?.unit_price_micro ?? price.unitPriceMicro;
      return [price.id, { ...price, unitPriceMicro }];
    }),
  ) as PriceList;
}

function isLater(one: PriceChange, other: PriceChange): boolean {
  const apart = one.valid_from.getTime() - other.valid_from.getTime();
  return apart === 0 ? one.id > other.id : apart > 0;
}
