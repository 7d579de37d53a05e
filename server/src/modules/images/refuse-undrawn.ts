import type { Generation } from '@bakehouse/contract/generations';
import { AppError } from '../../platform/errors.ts';

/** Throws AppError 'unavailable' for a generation that has failed, 'conflict' for one that was cancelled. */
export function refuseUndrawn({ state, reason }: Pick<Generation, 'state' | 'reason'>): void {
  if (state === 'failed') throw new AppError('unavailable', { publicMessage: reason });
  if (state === 'cancelled') throw new AppError('conflict', { publicMessage: reason });
}
