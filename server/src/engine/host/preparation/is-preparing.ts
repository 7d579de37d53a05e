import type { Services } from '../../../platform/context.ts';
import type { PreparationId } from './preparation-ids.ts';
import { findPreparation } from './queries.ts';

/** Whether this server has yet to finish a step of its preparation. */
export async function isPreparing(
  { config, db, machineId }: Pick<Services, 'config' | 'db' | 'machineId'>,
  id: PreparationId,
): Promise<boolean> {
  return config.prepare && (await findPreparation(db, machineId, id))?.state !== 'ready';
}
