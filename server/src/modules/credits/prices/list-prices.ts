import type { listPrices as contract } from '@bakehouse/contract/credits';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Services } from '../../../platform/context.ts';
import { selectPriceChanges } from './price-queries.ts';
import { pricesAt } from './prices-at.ts';

/** Lists all prices with their pending changes. */
export async function listPrices({
  db,
  clock,
}: Pick<Services, 'db' | 'clock'>): Promise<ResponseOf<typeof contract>> {
  const now = clock.now();
  const changes = await selectPriceChanges(db, now);
  const coming = new Map(
    changes.filter((change) => change.valid_from > now).map((change) => [change.price_id, change]),
  );
  return {
    prices: Object.values(pricesAt(changes, now)).map(({ id, label, unit, unitPriceMicro }) => {
      const next = coming.get(id);
      return {
        id,
        label,
        unit,
        unit_price: formatBgl(unitPriceMicro),
        next: next
          ? { unit_price: formatBgl(next.unit_price_micro), valid_from: next.valid_from.toISOString() }
          : null,
      };
    }),
  };
}
