import { AppError } from '../../../platform/errors.ts';

/** Returns the error for a model that cannot answer right now; `what` is the reason as a sentence. */
export function unavailable(what: string, cause?: unknown, retryAfterMs?: number): AppError {
  const publicMessage = `${what.replace(/\.$/, '')}. Try again`;
  return new AppError('unavailable', {
    publicMessage,
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
