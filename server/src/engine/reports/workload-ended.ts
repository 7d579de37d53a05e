import { AppError } from '../../platform/errors.ts';

/** The answer to a workload that has ended: it has nothing more to say or to ask. */
export function workloadEnded(): AppError {
  return new AppError('gone', { publicMessage: 'This workload has ended' });
}
