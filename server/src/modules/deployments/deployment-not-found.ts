import { AppError } from '../../platform/errors.ts';

/** The answer for a pod that is not there, and for one that is another user's. */
export function deploymentNotFound(): AppError {
  return new AppError('not_found', { publicMessage: 'There is no such deployment', param: 'podId' });
}
