import { type Use, uses } from '@bakehouse/contract/credits';

/** Where granted credits come from. Its balance is minus all that was ever granted. */
export const GRANTS_ACCOUNT = 'grants';
/** Where bought credits come from. */
export const PAYMENTS_ACCOUNT = 'payments';

/** What deleted users owed. Its balance is minus all that the installation has borne. */
export const LOSSES_ACCOUNT = 'losses';

export const userAccount = (userId: string): string => `user:${userId}`;
/** What a user owes. */
export const receivableAccount = (userId: string): string => `receivable:${userId}`;
/** Each use has its own. */
export const revenueAccount = (use: Use): string => `revenue:${use}`;

/** The owner of a user's account; null for a system account. */
export function accountOwner(accountId: string): string | null {
  return accountId.startsWith('user:') ? accountId.slice('user:'.length) : null;
}

/** The use of a revenue account; null for any other account. */
export function accountUse(accountId: string): Use | null {
  return uses.find((use) => revenueAccount(use) === accountId) ?? null;
}
