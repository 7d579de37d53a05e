import type { Services } from '../../platform/context.ts';
import { endDeployment } from './end-deployment.ts';
import { selectLivePodIdsOfAsset } from './queries.ts';

/**
 * Terminates all deployments of an asset, of any user, and settles their bills; `reason` is shown to their
 * owners.
 */
export async function endDeploymentsOf(
  services: Pick<Services, 'db' | 'clock'>,
  { assetId, reason }: { assetId: string; reason: string },
): Promise<void> {
  for (const podId of await selectLivePodIdsOfAsset(services.db, assetId))
    await endDeployment(services, podId, { reason, endedBy: null });
}
