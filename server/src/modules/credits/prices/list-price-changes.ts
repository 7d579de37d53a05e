import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { listPriceChanges as contract } from '@bakehouse/contract/prices';
import type { Context } from '../../../platform/context.ts';
import { listAllPriceChanges } from './price-queries.ts';
import { defaultPrices, type Price } from './prices.ts';

const known = new Map<string, Price>(Object.entries(defaultPrices));

/** Lists all price changes, newest first; the caller is an operator. */
export async function listPriceChanges(
  ctx: Context,
  { limit, cursor }: InputOf<typeof contract>['query'],
): Promise<ResponseOf<typeof contract>> {
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
