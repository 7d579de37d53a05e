import { AppError } from '../../../platform/errors.ts';

/** The error where a model cannot answer at the moment, and may do so soon; `what` is why, as a sentence. */
export function unavailable(what: string, cause?: unknown, retryAfterMs?: number): AppError {
  const publicMessage = `${what.replace(/\.$/, '')}. Try again`;
  return new AppError('unavailable', {
    publicMessage,
    cause,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
