import { AppError } from '../../../../platform/errors.ts';

type Replicas = { auto_scale: boolean; min_replicas: number; max_replicas: number };

/** Throws AppError 'invalid_request', with the field, for contradictory replica settings. */
export function checkReplicas({ auto_scale, min_replicas, max_replicas }: Replicas): void {
  if (!auto_scale && max_replicas !== 1)
    throw refuse('max_replicas', 'max_replicas must be 1 unless auto_scale is true');
  if (!auto_scale && min_replicas !== 1)
    throw refuse('min_replicas', 'min_replicas must be 1 unless auto_scale is true');
  if (min_replicas > max_replicas) throw refuse('min_replicas', 'min_replicas must be at most max_replicas');
}

function refuse(param: keyof Replicas, publicMessage: string): AppError {
  return new AppError('invalid_request', { publicMessage, param });
}
