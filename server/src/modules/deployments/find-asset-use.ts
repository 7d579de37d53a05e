import type { FindAssetUse } from '../assets/delete-asset.ts';
import { findDeploymentOfAsset } from './queries.ts';
import { isAskedStarter } from './servers/server-queries.ts';

/** A model that is served stays until its deployment has ended; one that answers everybody, until nobody asks it. */
export const findAssetUse: FindAssetUse = async (tx, { assetId }) => {
  const deployment = await findDeploymentOfAsset(tx, assetId);
  if (deployment) return `It is deployed as '${deployment.model_name}'. Terminate the deployment first.`;
  return (await isAskedStarter(tx, assetId))
    ? 'It answers without a deployment now. Try again once nobody has asked it for a while.'
    : null;
};
