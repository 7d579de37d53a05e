import type { Transaction } from '../../platform/db/database.ts';
import { lockUserAccounts } from './lock-user-accounts.ts';
import { getUserTotals, type UserTotals } from './queries.ts';

/** Step: what a user has, in micro-BGL, which nobody changes before the transaction has ended. */
export async function lockTotals(tx: Transaction, userId: string): Promise<UserTotals> {
  await lockUserAccounts(tx, [userId]);
  return getUserTotals(tx, userId);
}
