import type { Payment } from './payment-provider.ts';

/** Micro-BGL per cent: 25 BGL are a dollar. */
export const MICRO_PER_CENT = 250_000n;

export type PurchaseState = {
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
  /** The account is deleted or the amount differs: an operator must decide. */
  | { kind: 'refuse'; reason: string }
  | null;

/**
 * Returns the next step to bring the ledger in line with the provider; null if it is. A paid purchase stays
 * paid: a refund is a separate step.
 */
export function planPurchase(purchase: PurchaseState, payment: Payment): PurchaseStep {
  if (purchase.status === 'refused') return null;
  if (purchase.status !== 'paid') {
    if (payment.status === 'paid') return creditOf(purchase, payment);
    if (payment.status === 'open' || payment.status === purchase.status) return null;
    return { kind: 'close', status: payment.status };
  }
  // A payment never becomes unpaid, so this state belongs to another payment.
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
  if (paid === null) return { kind: 'refuse', reason: `${due}, and what came is unknown` };
  if (paid.currency !== 'usd')
    return { kind: 'refuse', reason: `${due}, and another currency came (${paid.currency.toUpperCase()})` };
  if (paid.cents !== cents) return { kind: 'refuse', reason: `${due}, and ${paid.cents} came` };
  return account_deleted ? { kind: 'refuse', reason: 'the account was deleted' } : { kind: 'credit', cents };
}
