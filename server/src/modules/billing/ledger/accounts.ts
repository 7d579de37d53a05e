import { type Use, uses } from '@bakehouse/contract/credits';

/** The account from which grants are paid. Its balance is the negative sum of all grants. */
export const GRANTS_ACCOUNT = 'grants';

/** The account from which bought credits are paid. */
export const PAYMENTS_ACCOUNT = 'payments';

/**
 * The account that bears debts of deleted users. Its balance is the negative sum of all debts written off.
 */
export const LOSSES_ACCOUNT = 'losses';

export const userAccount = (userId: string): string => `user:${userId}`;

/** Returns the account of a user's debt. */
export const receivableAccount = (userId: string): string => `receivable:${userId}`;

/** Returns the revenue account of a use. */
export const revenueAccount = (use: Use): string => `revenue:${use}`;

/** Returns the owner of a user's account; null for a system account. */
export function accountOwner(accountId: string): string | null {
  return accountId.startsWith('user:') ? accountId.slice('user:'.length) : null;
}

/** Returns the use of a revenue account; null for any other account. */
export function accountUse(accountId: string): Use | null {
  return uses.find((use) => revenueAccount(use) === accountId) ?? null;
}
