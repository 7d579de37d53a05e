import type { Services } from '../../platform/context.ts';
import { endDeployment } from './end-deployment.ts';
import { selectLivePodIdsOfAsset } from './queries.ts';

/** Ends whatever serves an asset, whoever it is of, and settles the bills; its owners read the reason. */
export async function endDeploymentsOf(
  services: Pick<Services, 'db' | 'clock'>,
  { assetId, reason }: { assetId: string; reason: string },
): Promise<void> {
  for (const podId of await selectLivePodIdsOfAsset(services.db, assetId))
    await endDeployment(services, podId, { reason, endedBy: null });
}
