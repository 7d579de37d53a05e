import type { Transaction } from '../../../platform/db/database.ts';
import { countOpenPurchases } from './purchase-queries.ts';

/** The provider's page ends after a day; some ways to pay take two weeks. What is open for longer was lost. */
const PAYMENT_DAYS_MAX = 14;
/** The provider answers sooner, or the call has ended without a page. */
const OPENING_MINUTES_MAX = 10;

/** Step: whether the user has a purchase that may still be paid. */
export async function hasOpenPayment(
  tx: Transaction,
  { userId, now }: { userId: string; now: Date },
): Promise<boolean> {
  const since = new Date(now.getTime() - PAYMENT_DAYS_MAX * 24 * 3_600_000);
  const openingSince = new Date(now.getTime() - OPENING_MINUTES_MAX * 60_000);
  return (await countOpenPurchases(tx, userId, { since, openingSince })) > 0;
}
