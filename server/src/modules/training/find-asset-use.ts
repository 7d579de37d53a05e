import type { FindAssetUse } from '../assets/delete-asset.ts';
import { findRunUsing } from './queries.ts';

/** An asset that a run reads or makes stays until the run has ended. */
export const findAssetUse: FindAssetUse = async (tx, { assetId }) => {
  const run = await findRunUsing(tx, assetId);
  return run ? `The run of '${run.title}' uses it. Cancel the run first, or wait until it has ended.` : null;
};
