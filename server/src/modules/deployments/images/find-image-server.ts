import type { Context } from '../../../platform/context.ts';
import { listStarterModels } from '../../models/starter/list-starter-models.ts';
import { findLiveDeployment } from '../find-deployments.ts';

/** A model server: a starter's, shared by all users, or a deployment's. */
export type ImageServer = { starter: string } | { podId: string };

/**
 * Returns the model server that generates for the caller under this name. Deployments of a starter share the
 * starter's.
 */
export async function findImageServer(
  { db, caller }: Pick<Context, 'db' | 'caller'>,
  modelName: string,
): Promise<ImageServer> {
  const deployed = await findLiveDeployment(db, { userId: caller.userId, modelName });
  if (!deployed) return { starter: modelName };
  const starters = deployed.has_own_server ? [] : await listStarterModels(db);
  const starter = starters.find(({ assetId }) => assetId === deployed.asset_id);
  return starter ? { starter: starter.modelName } : { podId: deployed.id };
}
