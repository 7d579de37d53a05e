import type { Services } from '../../../platform/context.ts';
import { listPreparations } from './list-preparations.ts';
import type { PreparationId } from './preparation-ids.ts';

/** Returns true if this preparation step will soon be finished; false if it or an earlier step fails. */
export async function isPreparing(
  services: Pick<Services, 'config' | 'db'>,
  id: PreparationId,
): Promise<boolean> {
  const steps = await listPreparations(services, { hasGpus: false });
  const upToIt = steps.slice(0, steps.findIndex((step) => step.id === id) + 1);
  const state = upToIt.at(-1)?.state;
  return (state === 'waiting' || state === 'running') && upToIt.every((step) => step.state !== 'failed');
}
