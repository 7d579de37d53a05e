import { formatBgl, formatUsd } from '@bakehouse/contract/money';
import type { Purchase } from '@bakehouse/contract/purchases';
import { MICRO_PER_CENT } from './plan-purchase.ts';
import type { PurchaseRow } from './purchase-queries.ts';

/** Returns a purchase as its buyer sees it. */
export function toPurchase(row: Omit<PurchaseRow, 'account_deleted'>): Purchase {
  return {
    id: row.id,
    status: row.status,
    usd: formatUsd(row.amount_micro),
    amount: formatBgl(row.amount_micro),
    reversed: formatBgl(BigInt(row.reversed_cents) * MICRO_PER_CENT),
    receipt_url: row.receipt_url,
    created_at: row.created_at.toISOString(),
    paid_at: row.paid_at?.toISOString() ?? null,
  };
}
