import { formatBgl } from '@bakehouse/contract/money';
import type { Purchase } from '@bakehouse/contract/purchases';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { selectRedemptions } from './codes/code-queries.ts';
import { lockUserAccounts } from './lock-user-accounts.ts';
import { stopWatching } from './low-balance-queries.ts';
import { countOpenPurchases, deleteReceipts, listUserPurchases } from './purchases/purchase-queries.ts';
import { toPurchase } from './purchases/to-purchase.ts';
import { getUserTotals, type UserTotals } from './queries.ts';
import { listWindows } from './usage/usage-queries.ts';

/* What other modules ask of credits, on this module's SQL; what costs something has steps of its own. */

/** A user's totals in micro-BGL. */
export async function getTotals(
  db: Database,
  userId: string,
): Promise<{ balance: bigint; held: bigint; given: bigint; owed: bigint }> {
  return getUserTotals(db, userId);
}

/** A user's totals in micro-BGL, locked until the transaction ends. */
export async function lockTotals(tx: Transaction, userId: string): Promise<UserTotals> {
  await lockUserAccounts(tx, [userId]);
  return getUserTotals(tx, userId);
}

/** Removes a deleted user's low balance watch, and the links to their receipts. */
export async function forgetBilling(tx: Transaction, userId: string): Promise<void> {
  await stopWatching(tx, userId);
  await deleteReceipts(tx, userId);
}

/** All of a user's purchases, newest first. */
export async function listAllPurchases(db: Database, userId: string): Promise<Purchase[]> {
  return (await listUserPurchases(db, userId)).map(toPurchase);
}

/** The provider's page expires after a day; some payment methods take two weeks. */
const PAYMENT_DAYS_MAX = 14;
/** A call that opens the provider's page has ended by then. */
const OPENING_MINUTES_MAX = 10;

/** Whether the user has a purchase that may still be paid. */
export async function hasOpenPayment(
  tx: Transaction,
  { userId, now }: { userId: string; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - PAYMENT_DAYS_MAX * 24 * 3_600_000);
  const openingSince = new Date(now.getTime() - OPENING_MINUTES_MAX * 60_000);
  return (await countOpenPurchases(tx, userId, { since, openingSince })) > 0;
}

/** The codes that a user has redeemed, oldest first; of each only its last characters are kept. */
export async function listRedeemedCodes(
  db: Database,
  userId: string,
): Promise<{ hint: string; amount: string; redeemed_at: string }[]> {
  const rows = await selectRedemptions(db, userId);
  return rows.map(({ hint, amount_micro, redeemed_at }) => ({
    hint,
    amount: formatBgl(amount_micro),
    redeemed_at: redeemed_at.toISOString(),
  }));
}

/** A user's usage windows without their answers, oldest first, after the window `cursor`. */
export async function listUsageWindows(
  db: Database,
  page: { userId: string; cursor: string | undefined; limit: number },
) {
  const rows = await listWindows(db, page);
  return rows.map(({ used_micro, events, ...row }) => ({
    ...row,
    answers: Number(events),
    used: formatBgl(used_micro),
  }));
}
