import type { listPrices as listPricesEndpoint } from '@bakehouse/contract/credits';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { listPriceChanges as listPriceChangesEndpoint } from '@bakehouse/contract/prices';
import { rowCache } from '../../../platform/cache/row-cache.ts';
import type { Context, Services } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { listAllPriceChanges, selectPriceChanges } from './price-queries.ts';
import { defaultPrices, type Price, type PriceList } from './prices.ts';
import { type PriceChange, pricesAt } from './prices-at.ts';

const known = new Map<string, Price>(Object.entries(defaultPrices));

/** Returns all current prices from the cache. */
export type RecallPrices = () => Promise<PriceList>;

/** Returns a function that reads prices from a cache, for requests that must not wait for the database. */
export function createPriceCache({
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

/** Returns all current prices. */
export async function readPrices(db: Database | Transaction, now: Date): Promise<PriceList> {
  return pricesAt(await selectPriceChanges(db, now), now);
}

/** Lists all prices with their pending changes. */
export async function listPrices({
  db,
  clock,
}: Pick<Services, 'db' | 'clock'>): Promise<ResponseOf<typeof listPricesEndpoint>> {
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

/** Lists all price changes, newest first; the caller is an operator. */
export async function listPriceChanges(
  ctx: Context,
  { limit, cursor }: InputOf<typeof listPriceChangesEndpoint>['query'],
): Promise<ResponseOf<typeof listPriceChangesEndpoint>> {
  const rows = await listAllPriceChanges(ctx.db, { before: cursor ?? null, limit: limit + 1 });
  const page = rows.slice(0, limit);
  return {
    changes: page.map((row) => {
      const price = known.get(row.price_id);
      return {
        id: row.id,
        price_id: row.price_id,
        label: price?.label ?? row.price_id,
        unit: price?.unit ?? null,
        unit_price: formatBgl(row.unit_price_micro),
        previous: formatBgl(row.previous_micro),
        valid_from: row.valid_from.toISOString(),
        withdrawn_at: row.withdrawn_at?.toISOString() ?? null,
        changed_by: row.deleted_at ? null : row.username,
        created_at: row.created_at.toISOString(),
      };
    }),
    next_cursor: rows.length > limit ? (page.at(-1)?.id ?? null) : null,
  };
}
