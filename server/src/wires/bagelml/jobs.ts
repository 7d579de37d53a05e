import type { Job } from '@bakehouse/contract/bagelml';
import type { Run } from '@bakehouse/contract/runs';
import { previewFile } from '../../modules/datasets/preview-file.ts';
import { getRun, listRuns } from '../../modules/fine-tuning/runs/runs.ts';
import type { Context } from '../../platform/context.ts';
import { notFoundError } from '../../platform/errors.ts';

const JOBS_MAX = 100;

/** Returns the caller's run that creates this model. Throws AppError 'not_found' if there is none. */
export async function getJobOfModel(ctx: Context, { modelId }: { modelId: string }): Promise<Job> {
  const { runs } = await listRuns(ctx, { query: { model_id: [modelId], limit: 1 } });
  const [run] = runs;
  if (!run) throw notFoundError('This model was not made by a fine-tune');
  return toJob(run);
}

/** Returns one page of the caller's runs, newest first. These clients never request a second page. */
export async function listJobs(ctx: Context): Promise<Job[]> {
  const { runs } = await listRuns(ctx, { query: { limit: JOBS_MAX } });
  return runs.map(toJob);
}

/** Returns a run in the format of the original product's clients. */
function toJob(run: Run): Job {
  const { state, reason, progress, created_at, started_at, ended_at } = run;
  return {
    job_id: run.run_id,
    asset_id: run.model_id,
    model_name: run.title,
    created_by: run.user_id,
    status: state,
    reason,
    progress,
    base_model: run.base_model.dataset_id,
    dataset_id: run.dataset.dataset_id,
    // The original product has no runs on pictures.
    file_name: run.dataset.file_name ?? '',
    created_at,
    started_at,
    ended_at,
  };
}

/** Returns the column names of a data file. Throws the errors of `previewFile`. */
export async function listColumnNames(
  ctx: Context,
  { assetId, path }: { assetId: string; path: string },
): Promise<string[]> {
  return (await previewFile(ctx, { assetId, path, offset: 0, limit: 1 })).columns;
}

/** Returns a run of the caller. */
export async function getJob(ctx: Context, { jobId }: { jobId: string }): Promise<Job> {
  return toJob(await getRun(ctx, { params: { runId: jobId }, query: undefined, body: undefined }));
}
