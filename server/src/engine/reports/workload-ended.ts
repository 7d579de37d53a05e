import { AppError } from '../../platform/errors.ts';

/** Returns the error for calls of a workload that has ended. */
export function workloadEnded(): AppError {
  return new AppError('gone', { publicMessage: 'This workload has ended' });
}
