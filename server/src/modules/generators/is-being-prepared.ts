import type { GeneratorName } from '@bakehouse/contract/generators';
import { isPrepared } from '../../engine/host/preparation/is-prepared.ts';
import type { Services } from '../../platform/context.ts';
import { ownModels } from './own-models.ts';

/** Whether the generator is to have a starter model, which this server is still preparing. */
export async function isBeingPrepared(
  services: Pick<Services, 'config' | 'db' | 'machineId'>,
  generator: GeneratorName,
): Promise<boolean> {
  if (!services.config.prepare || ownModels[generator] === undefined) return false;
  return !(await isPrepared(services, 'starter-image-model'));
}
