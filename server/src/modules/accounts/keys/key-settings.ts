import type { BudgetPeriod } from '@bakehouse/contract/limits';
import { AppError } from '../../../platform/errors.ts';
import type { Budget } from './key-queries.ts';

/** The end of a key as it was sent. Throws AppError 'invalid_request' for one that has passed. */
export function readExpiry(text: string | null | undefined, now: Date): Date | null {
  if (text === null || text === undefined) return null;
  const expiresAt = new Date(text);
  if (expiresAt > now) return expiresAt;
  throw new AppError('invalid_request', {
    publicMessage: 'expires_at must be in the future',
    param: 'expires_at',
  });
}

/** The budget of a key as it was sent. */
export function readBudget(
  budget: { amount: bigint; period: BudgetPeriod } | null | undefined,
): Budget | null {
  return budget ? { amountMicro: budget.amount, period: budget.period } : null;
}
