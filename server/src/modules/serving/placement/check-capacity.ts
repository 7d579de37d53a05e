import type { Capacity } from '../../../engine/model/capacity.ts';
import { AppError } from '../../../platform/errors.ts';
import type { ServingPlacement } from '../served-model.ts';
import { deviceLabel } from './choose-placement.ts';

/** Throws AppError 'invalid_request' if min_replicas exceeds the capacity of the whole installation. */
export function checkCapacity(
  { min_replicas }: { min_replicas: number },
  { accelerator, count }: ServingPlacement,
  capacity: Capacity,
): void {
  const room =
    accelerator === null ? (capacity['cpu:deployment'] ?? 0) : roomOnGpus(accelerator, count, capacity);
  if (min_replicas <= Math.max(1, room)) return;
  const device = deviceLabel({ accelerator, accelerator_count: count });
  throw new AppError('invalid_request', {
    publicMessage: `min_replicas must be at most ${room}: this server has room for no more replicas on ${device}`,
    param: 'min_replicas',
  });
}

/** A replica uses GPUs of one machine only. */
function roomOnGpus(accelerator: string, count: number, { gpus = [] }: Capacity): number {
  const ofKind = gpus.filter(({ type }) => type === accelerator);
  return ofKind.reduce(
    (sum, { devices, machines = 1 }) => sum + Math.floor(devices.length / count) * machines,
    0,
  );
}
