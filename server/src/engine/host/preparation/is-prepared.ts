import type { Services } from '../../../platform/context.ts';
import type { PreparationId } from './preparation-ids.ts';
import { findPreparation } from './queries.ts';

/** Whether this machine is done with a step of its preparation. */
export async function isPrepared(
  { db, machineId }: Pick<Services, 'db' | 'machineId'>,
  id: PreparationId,
): Promise<boolean> {
  return (await findPreparation(db, machineId, id))?.state === 'ready';
}
