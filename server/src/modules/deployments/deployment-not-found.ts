import { AppError } from '../../platform/errors.ts';

/** Returns the error for an unknown pod and for another user's. */
export function deploymentNotFound(): AppError {
  return new AppError('not_found', { publicMessage: 'There is no such deployment', param: 'podId' });
}
