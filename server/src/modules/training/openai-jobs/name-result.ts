import type { Transaction } from '../../../platform/db/database.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import { nameFineTune } from '../../models/fine-tuned/steps.ts';
import type { RunRow } from '../queries.ts';
import { selectJobs } from './job-queries.ts';

/** Step: assigns the name by which the owner calls a run's model. */
export async function nameResult(
  tx: Transaction,
  { id, userId, modelAssetId: assetId, base, title }: RunRow,
): Promise<void> {
  const job = (await selectJobs(tx, [id])).get(id);
  const { owner_username: username } = await findReadableAsset(tx, { assetId, userId });
  const suffix = job ? (job.suffix ?? '') : title;
  await nameFineTune(tx, { assetId, baseTitle: base.title, username: username ?? '', suffix });
}
