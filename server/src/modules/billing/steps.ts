import { formatBgl } from '@bakehouse/contract/money';
import type { Purchase } from '@bakehouse/contract/purchases';
import type { Database, Transaction } from '../../platform/db/database.ts';
import { lockUserAccounts } from './accounts.ts';
import { selectRedemptions } from './codes/code-queries.ts';
import { stopWatching } from './low-balance-queries.ts';
import { countOpenPurchases, deleteReceipts, listUserPurchases } from './purchases/purchase-queries.ts';
import { toPurchase } from './purchases/purchases.ts';
import { getUserTotals, type UserTotals } from './queries.ts';
import { listWindows } from './usage/usage-queries.ts';

/* Steps for other modules. Steps that move credits are in the folder `ledger`. */

/** Returns a user's totals in micro-BGL. */
export async function getTotals(
  db: Database,
  userId: string,
): Promise<{ balance: bigint; held: bigint; given: bigint; owed: bigint }> {
  return getUserTotals(db, userId);
}

/** Locks a user's totals until the transaction ends and returns them in micro-BGL. */
export async function lockTotals(tx: Transaction, userId: string): Promise<UserTotals> {
  await lockUserAccounts(tx, [userId]);
  return getUserTotals(tx, userId);
}

/** Deletes a deleted user's low-balance watch and receipt links. */
export async function deleteBillingData(tx: Transaction, userId: string): Promise<void> {
  await stopWatching(tx, userId);
  await deleteReceipts(tx, userId);
}

/** Returns all of a user's purchases, newest first. */
export async function listAllPurchases(db: Database, userId: string): Promise<Purchase[]> {
  return (await listUserPurchases(db, userId)).map(toPurchase);
}

/**
 * A purchase may be paid for this long: the provider's page expires after a day, but some payment methods
 * then take two weeks.
 */
const PAYMENT_DAYS_MAX = 14;
/** A call that opens the provider's page ends within this time. */
const OPENING_MINUTES_MAX = 10;

/** Returns true if the user has a purchase that may still be paid. */
export async function hasOpenPayment(
  tx: Transaction,
  { userId, now }: { userId: string; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - PAYMENT_DAYS_MAX * 24 * 3_600_000);
  const openingSince = new Date(now.getTime() - OPENING_MINUTES_MAX * 60_000);
  return (await countOpenPurchases(tx, userId, { since, openingSince })) > 0;
}

/**
 * Returns the codes that a user has redeemed, oldest first. `hint` is the last characters of a code, because
 * no more of it is stored.
 */
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

/** Returns a user's usage windows without their answers, oldest first, after the window `cursor`. */
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
