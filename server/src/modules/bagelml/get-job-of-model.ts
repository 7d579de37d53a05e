import type { Job } from '@bakehouse/contract/bagelml';
import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { listRuns } from '../training/runs/list-runs.ts';
import { toJob } from './to-job.ts';

/** Returns the caller's run that creates this model. Throws AppError 'not_found' if there is none. */
export async function getJobOfModel(ctx: Context, { modelId }: { modelId: string }): Promise<Job> {
  const query = { model_id: [modelId], recent: undefined, search: '', limit: 1, cursor: undefined };
  const { runs } = await listRuns(ctx, { params: undefined, query, body: undefined });
  const [run] = runs;
  if (!run) throw new AppError('not_found', { publicMessage: 'No fine-tune has made this model' });
  return toJob(run);
}
