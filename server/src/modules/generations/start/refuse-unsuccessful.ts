import type { Generation } from '@bakehouse/contract/generations';
import { AppError } from '../../../platform/errors.ts';

/**
 * Throws AppError for a generation that ended without a picture: 'invalid_request' if the model refuses the
 * request, 'unavailable' if it failed, 'conflict' if it was cancelled. Tells clients not to retry: the server
 * has already retried, and a service may have charged its operator.
 */
export function refuseUnsuccessful({
  state,
  reason,
  refused,
}: Pick<Generation, 'state' | 'reason' | 'refused'>): void {
  const publicMessage = `${reason}. Nothing was charged`;
  const answer = { publicMessage, shouldRetry: false };
  if (state === 'failed') throw new AppError(refused ? 'invalid_request' : 'unavailable', answer);
  if (state === 'cancelled') throw new AppError('conflict', answer);
}
