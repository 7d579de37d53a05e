import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import type { listPurchases as contract, Purchase } from '@bakehouse/contract/purchases';
import type { Context } from '../../../platform/context.ts';
import { MICRO_PER_CENT } from './plan-purchase.ts';
import { listUserPurchases, type PurchaseRow } from './purchase-queries.ts';

const PURCHASES_MAX = 100;

/** The caller's newest purchases, and whether further ones can be made. */
export async function listPurchases(ctx: Context, canBuy: boolean): Promise<ResponseOf<typeof contract>> {
  const rows = await listUserPurchases(ctx.db, ctx.caller.userId, PURCHASES_MAX);
  return { can_buy: canBuy, purchases: rows.map(toPurchase) };
}

function toPurchase(row: Omit<PurchaseRow, 'account_deleted'>): Purchase {
  return {
    id: row.id,
    status: row.status,
    usd: formatUsd(row.amount_micro),
    amount: formatBgl(row.amount_micro),
    taken_back: formatBgl(BigInt(row.taken_back_cents) * MICRO_PER_CENT),
    receipt_url: row.receipt_url,
    created_at: row.created_at.toISOString(),
    paid_at: row.paid_at?.toISOString() ?? null,
  };
}
