import { AppError } from '../../../platform/errors.ts';

/** Returns the error for a repeated call whose purchase can no longer be paid. */
export function purchaseEnded(cause?: unknown): AppError {
  return new AppError('conflict', {
    publicMessage: 'This purchase has ended. Start a new one',
    param: 'Idempotency-Key',
    cause,
  });
}
