import { type FindAssetUse, foreignUse } from '../assets/asset-use.ts';
import { findRunsUsing } from './queries.ts';

/** Assets that a run reads or writes cannot be deleted until the run has ended. */
export const findAssetUse: FindAssetUse = async (tx, asset) => {
  const { ownTitle, others } = await findRunsUsing(tx, asset);
  if (ownTitle !== null)
    return `The run of '${ownTitle}' uses it. Cancel the run first, or wait until it has ended.`;
  return others > 0 ? foreignUse(others, 'run', asset.userId) : null;
};
