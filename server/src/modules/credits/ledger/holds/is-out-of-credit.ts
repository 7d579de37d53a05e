import { AppError } from '../../../../platform/errors.ts';

/** Returns true if an error means that credits or the API key's budget are used up. */
export function isOutOfCredit(error: unknown): error is AppError {
  return (
    error instanceof AppError && (error.code === 'insufficient_funds' || error.code === 'budget_exceeded')
  );
}
