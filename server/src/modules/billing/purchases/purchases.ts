import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { displayAmount, formatBgl, formatUsd, parseUsdCents } from '@bakehouse/contract/money';
import type {
  listPurchases as listPurchasesEndpoint,
  Purchase,
  startPurchase as startPurchaseEndpoint,
} from '@bakehouse/contract/purchases';
import type { Context } from '../../../platform/context.ts';
import { idempotent } from '../../../platform/db/idempotency/idempotent.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { type AppError, conflict, unknownCursor } from '../../../platform/errors.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { findEmail } from '../../accounts/steps.ts';
import { lockUserAccounts } from '../accounts.ts';
import type { Payment, PaymentProvider } from './payment-provider.ts';
import {
  findPurchase,
  insertPurchase,
  listUserPurchases,
  type PurchaseRow,
  setSession,
} from './purchase-queries.ts';

/** Micro-BGL per cent: 25 BGL are a dollar. */
export const MICRO_PER_CENT = 250_000n;

/**
 * How long a repeated call reliably gets the same page: Stripe stores idempotency keys for at least 24 hours.
 */
const PAGE_KNOWN_MS = 23 * 3_600_000;

/**
 * Opens the payment provider's page for a purchase of the caller. Credits are added only when the provider
 * reports the payment. Throws AppError 'conflict' if this server sells no credits, or if the call is repeated
 * after its purchase has ended. Throws 'unavailable' if the provider does not answer.
 */
export async function startPurchase(
  ctx: Context,
  provider: PaymentProvider | null,
  input: InputOf<typeof startPurchaseEndpoint>['body'],
): Promise<ResponseOf<typeof startPurchaseEndpoint>> {
  if (provider === null) {
    throw conflict('This server has no payment provider, so credits cannot be bought here');
  }
  const { userId } = ctx.caller;
  const usdCents = parseUsdCents(input.usd);
  const amountMicro = BigInt(usdCents) * MICRO_PER_CENT;
  const call = { userId, key: ctx.idempotencyKey, operation: 'start-purchase', input };
  const { purchase_id } = await inTransaction(ctx.db, (tx) =>
    idempotent(tx, call, async () => {
      // The deletion of an account takes the same lock. Therefore either the deletion sees this purchase, or
      // this call sees that the account is deleted.
      await lockUserAccounts(tx, [userId]);
      const purchaseId = await insertPurchase(tx, { userId, usdCents, amountMicro });
      const detail = { purchase_id: purchaseId, amount: formatBgl(amountMicro) };
      await recordAudit(tx, { userId, action: 'purchase.started', detail });
      return { purchase_id: purchaseId };
    }),
  );
  return { purchase_id, checkout_url: await openPage(ctx, provider, purchase_id) };
}

/** Returns the URL of a purchase's payment page. Each purchase has at most one page that can be paid. */
async function openPage(ctx: Context, provider: PaymentProvider, purchaseId: string): Promise<string> {
  const purchase = await findPurchase(ctx.db, purchaseId);
  if (purchase?.status !== 'open' || purchase.account_deleted) throw purchaseEnded();
  if (purchase.session_id !== null) {
    const url = await provider.findCheckoutUrl(purchase.session_id);
    if (url === null) throw purchaseEnded();
    return url;
  }
  // A process may have opened a page and died before it stored the session. By now, Stripe may have deleted
  // the key, and would open a second page.
  if (ctx.clock.now().getTime() - purchase.created_at.getTime() > PAGE_KNOWN_MS) throw purchaseEnded();
  const page = new URL('/buy-bagels', ctx.config.publicUrl);
  const { sessionId, url } = await provider.openCheckout({
    purchaseId,
    usdCents: purchase.usd_cents,
    description: `${displayAmount(purchase.amount_micro, 'BGL')} of credits`,
    email: await findEmail(ctx.db, purchase.user_id),
    successUrl: `${page.href}?purchase=${purchaseId}`,
    cancelUrl: page.href,
  });
  await setSession(ctx.db, purchaseId, sessionId);
  return url;
}

/**
 * Lists the caller's purchases, newest first, and whether this server sells credits. The cursor is the
 * previous page's last purchase.
 */
export async function listPurchases(
  ctx: Context,
  canBuy: boolean,
  { query: { limit, cursor } }: Pick<InputOf<typeof listPurchasesEndpoint>, 'query'>,
): Promise<ResponseOf<typeof listPurchasesEndpoint>> {
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

/** Returns the error for a repeated call whose purchase can no longer be paid. */
export function purchaseEnded(cause?: unknown): AppError {
  return conflict('This purchase has ended. Start a new one', { param: 'Idempotency-Key', cause });
}

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

type PurchaseState = {
  status: Payment['status'] | 'refused';
  account_deleted: boolean;
  usd_cents: number;
  reversed_cents: number;
};

export type PurchaseStep =
  /** The payment arrived. */
  | { kind: 'credit'; cents: number }
  /** The payment was refunded or disputed. */
  | { kind: 'reverse'; cents: number }
  /** A refund failed, or a dispute was won. */
  | { kind: 'reinstate'; cents: number }
  /** The payment will not arrive. */
  | { kind: 'close'; status: 'failed' | 'expired' }
  /** The account is deleted, or the amount differs. An operator must decide what happens. */
  | { kind: 'refuse'; reason: string }
  | null;

/**
 * Returns the next step that brings the ledger in line with the provider; null if nothing is left to do. A
 * paid purchase never becomes unpaid: a refund is a separate step.
 */
export function planPurchase(purchase: PurchaseState, payment: Payment): PurchaseStep {
  if (purchase.status === 'refused') return null;
  if (purchase.status !== 'paid') {
    if (payment.status === 'paid') return creditOf(purchase, payment);
    if (payment.status === 'open' || payment.status === purchase.status) return null;
    return { kind: 'close', status: payment.status };
  }
  // The purchase is paid, so a state other than 'paid' belongs to another payment.
  if (payment.status !== 'paid') return null;
  const reversed = Math.min(payment.reversedCents, purchase.usd_cents);
  const cents = reversed - purchase.reversed_cents;
  if (cents > 0) return { kind: 'reverse', cents };
  if (cents === 0) return null;
  return purchase.account_deleted
    ? { kind: 'refuse', reason: 'a refund failed or a dispute was won after the account was deleted' }
    : { kind: 'reinstate', cents: -cents };
}

function creditOf({ usd_cents: cents, account_deleted }: PurchaseState, { paid }: Payment): PurchaseStep {
  const due = `${cents} cents (USD) were due`;
  if (paid === null) return { kind: 'refuse', reason: `${due}, but the received amount is unknown` };
  if (paid.currency !== 'usd')
    return {
      kind: 'refuse',
      reason: `${due}, but another currency was received (${paid.currency.toUpperCase()})`,
    };
  if (paid.cents !== cents) return { kind: 'refuse', reason: `${due}, and ${paid.cents} came` };
  return account_deleted ? { kind: 'refuse', reason: 'the account was deleted' } : { kind: 'credit', cents };
}
