import { formatBgl } from '@bakehouse/contract/money';
import type { Database } from '../../../platform/db/database.ts';
import { selectRedemptions } from './code-queries.ts';

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
