import type { FindAssetUse } from '../assets/delete-asset.ts';
import { findDeploymentOfAsset } from './queries.ts';

/** A model that is served stays until its deployment has ended. */
export const findAssetUse: FindAssetUse = async (tx, { assetId }) => {
  const deployment = await findDeploymentOfAsset(tx, assetId);
  return deployment ? `It is deployed as '${deployment.model_name}'. Terminate the deployment first.` : null;
};
