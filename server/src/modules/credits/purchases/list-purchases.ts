import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { listPurchases as contract } from '@bakehouse/contract/purchases';
import type { Context } from '../../../platform/context.ts';
import { listUserPurchases } from './purchase-queries.ts';
import { toPurchase } from './to-purchase.ts';

const PURCHASES_MAX = 100;

/** The caller's newest purchases, and whether further ones can be made. */
export async function listPurchases(ctx: Context, canBuy: boolean): Promise<ResponseOf<typeof contract>> {
  const rows = await listUserPurchases(ctx.db, ctx.caller.userId, PURCHASES_MAX);
  return { can_buy: canBuy, purchases: rows.map(toPurchase) };
}
