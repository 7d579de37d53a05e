import { AppError } from '../../../platform/errors.ts';

/** A call was repeated whose purchase cannot be paid any more. */
export function purchaseEnded(cause?: unknown): AppError {
  return new AppError('conflict', {
    publicMessage: 'This purchase has ended. Begin a new one',
    param: 'Idempotency-Key',
    cause,
  });
}
