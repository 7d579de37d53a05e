import { AppError } from '../../../../platform/errors.ts';

/** Whether work ends because nothing more can be paid: the credits have ended, or the budget of its key. */
export function isOutOfCredit(error: unknown): error is AppError {
  return (
    error instanceof AppError && (error.code === 'insufficient_funds' || error.code === 'budget_exceeded')
  );
}
