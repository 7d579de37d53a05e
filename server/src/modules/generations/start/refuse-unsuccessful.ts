import type { Generation } from '@bakehouse/contract/generations';
import { AppError } from '../../../platform/errors.ts';

/**
 * Throws AppError for a generation that has ended without a picture: 'invalid_request' where the model refuses what was
 * asked for, 'unavailable' where it has failed, 'conflict' where it was cancelled. A client need not repeat it by itself: it
 * was tried as often as makes sense, and a service may have charged its operator for it.
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
