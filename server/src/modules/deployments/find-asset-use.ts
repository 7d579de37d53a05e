import { describeForeignUse, type FindAssetUse } from '../assets/asset-use.ts';
import { findDeploymentsOfAsset } from './queries.ts';
import { isStarterInUse } from './servers/server-queries.ts';

/** Prevents deleting a model while it is deployed, or a starter model while requests use it. */
export const findAssetUse: FindAssetUse = async (tx, asset) => {
  const { ownName, others } = await findDeploymentsOfAsset(tx, asset);
  if (ownName !== null) return `It is deployed as '${ownName}'. Terminate the deployment first.`;
  if (others > 0) return describeForeignUse(others, 'deployment', asset.userId);
  return (await isStarterInUse(tx, asset.assetId))
    ? 'It is in use without a deployment. Try again when it has been idle for a while.'
    : null;
};
