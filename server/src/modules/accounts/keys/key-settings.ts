import type { BudgetPeriod } from '@bakehouse/contract/limits';
import { AppError } from '../../../platform/errors.ts';
import type { Budget } from './key-queries.ts';

/** Parses the expiry of a key. Throws AppError 'invalid_request' if it has passed. */
export function readExpiry(text: string | null | undefined, now: Date): Date | null {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  if (expiresAt > now) return expiresAt;
  throw new AppError('invalid_request', {
    publicMessage: 'expires_at must be in the future',
    param: 'expires_at',
  });
}

/** Parses the budget of a key. */
export function readBudget(
  budget: { amount: bigint; period: BudgetPeriod } | null | undefined,
): Budget | null {
  return budget ? { amountMicro: budget.amount, period: budget.period } : null;
}
