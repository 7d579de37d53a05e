import { fromFlatId, toFlatId } from '@bakehouse/contract/fields/flat-id';
import type { OpenAiFile } from '@bakehouse/contract/openai-files';
import { selectMetrics } from '../../../engine/reports/attempt-log.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { findReadableAsset } from '../../assets/access/find-readable-asset.ts';
import { nameFineTune } from '../../models/fine-tuned/fine-tuned.ts';
import { findRun, type RunRow } from '../queries.ts';
import { selectJobs } from './job-queries.ts';

/** Returns the metrics of a caller's run as a CSV file. Null if the caller has no such run. */
export async function findResults(
  { db, caller }: Context,
  id: string,
): Promise<{ file: OpenAiFile; content: string } | null> {
  const run = await findRun(db, fromFlatId(id));
  if (run?.userId !== caller.userId) return null;
  const points = await selectMetrics(db, run.id);
  const rows = points.map(({ step, values }) => [step, values.loss ?? '', values.eval_loss ?? ''].join(','));
  const content = `${['step,train_loss,valid_loss', ...rows].join('\n')}\n`;
  return {
    content,
    file: {
      ...{ id: toFlatId('file-', run.id), object: 'file', bytes: Buffer.byteLength(content) },
      ...{ created_at: Math.floor(run.createdAt.getTime() / 1000), expires_at: null },
      ...{ filename: 'step_metrics.csv', purpose: 'fine-tune-results', status: 'processed' },
    },
  };
}

/** Step: stores the name by which the owner calls the model of a run. */
export async function nameResult(
  tx: Transaction,
  { id, userId, modelAssetId: assetId, base, title }: RunRow,
): Promise<void> {
  const job = (await selectJobs(tx, [id])).get(id);
  const { owner_username: username } = await findReadableAsset(tx, { assetId, userId });
  const suffix = job ? (job.suffix ?? '') : title;
  await nameFineTune(tx, { assetId, baseTitle: base.title, username: username ?? '', suffix });
}
