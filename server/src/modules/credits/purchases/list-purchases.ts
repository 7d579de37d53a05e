import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listPurchases as contract } from '@bakehouse/contract/purchases';
import type { Context } from '../../../platform/context.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findPurchase, listUserPurchases } from './purchase-queries.ts';
import { toPurchase } from './to-purchase.ts';

/**
 * Lists the caller's purchases, newest first, and whether this server sells credits. The cursor is the
 * previous page's last purchase.
 */
export async function listPurchases(
  ctx: Context,
  canBuy: boolean,
  { query: { limit, cursor } }: Pick<InputOf<typeof contract>, 'query'>,
): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  if (cursor !== undefined && (await findPurchase(ctx.db, cursor))?.user_id !== userId) throw unknownCursor();
  const found = await listUserPurchases(ctx.db, userId, { cursor, limit: limit + 1 });
  const rows = found.slice(0, limit);
  return {
    can_buy: canBuy,
    purchases: rows.map(toPurchase),
    next_cursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}
