import { describeForeignUse, type FindAssetUse } from '../assets/asset-use.ts';
import { findRunsUsing } from './queries.ts';

/** Returns why an asset cannot be deleted: an unfinished run reads or writes it. */
export const findAssetUse: FindAssetUse = async (tx, asset) => {
  const { ownTitle, others } = await findRunsUsing(tx, asset);
  if (ownTitle !== null)
    return `The run of '${ownTitle}' uses it. Cancel the run first, or wait until it has ended.`;
  return others > 0 ? describeForeignUse(others, 'run', asset.userId) : null;
};
