import { rowCache } from '../../../platform/cache/row-cache.ts';
import type { Services } from '../../../platform/context.ts';
import { selectPriceChanges } from './price-queries.ts';
import type { PriceList } from './prices.ts';
import { type PriceChange, pricesAt } from './prices-at.ts';

/** Returns all current prices from the cache. */
export type RecallPrices = () => Promise<PriceList>;

/** Caches price changes for requests that must not wait for the database. */
export function recallPrices({
  db,
  clock,
  rowChanges,
}: Pick<Services, 'db' | 'clock' | 'rowChanges'>): RecallPrices {
  const recall = rowCache<PriceChange[]>(rowChanges, { max: 1, concerns: (_, { of }) => of === 'price' });
  return async () => {
    const now = clock.now();
    return pricesAt(await recall('all', () => selectPriceChanges(db, now)), now);
  };
}
