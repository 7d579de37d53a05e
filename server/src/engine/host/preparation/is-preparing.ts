import type { Services } from '../../../platform/context.ts';
import { type PreparationId, preparationIds } from './preparation-ids.ts';
import { listPreparations } from './queries.ts';

/** Whether this machine will soon have finished a step of its preparation; not while that, or one before it, fails. */
export async function isPreparing(
  { db, machineId }: Pick<Services, 'db' | 'machineId'>,
  id: PreparationId,
): Promise<boolean> {
  const states = new Map((await listPreparations(db, machineId)).map((one) => [one.id, one.state]));
  const ids = preparationIds({ hasGpus: false });
  const isFailing = ids.slice(0, ids.indexOf(id) + 1).some((one) => states.get(one) === 'failed');
  const state = states.get(id);
  return !isFailing && (state === 'waiting' || state === 'running');
}
