import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import type { FineTuningJob, listFineTuningJobs as list } from '@bakehouse/contract/fine-tuning-jobs';
import type { Run, TextRun } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import { AppError, refused } from '../../../platform/errors.ts';
import { listFineTunes } from '../../models/fine-tuned/steps.ts';
import { getRun } from '../runs/get-run.ts';
import { listRuns } from '../runs/list-runs.ts';
import { selectJobs } from './job-queries.ts';
import { toJob } from './to-job.ts';

/** Returns the caller's run of a job, i.e. a text fine-tune. Throws AppError 'not_found'. */
export async function readJobRun(ctx: Context, jobId: string): Promise<TextRun> {
  const runId = fromFlatId(jobId);
  try {
    const run = await getRun(ctx, { params: { runId }, query: undefined, body: undefined });
    if (run.kind === 'text') return run;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
  }
  throw new AppError('not_found', {
    publicMessage: `There is no fine-tuning job '${jobId}'`,
    param: 'fine_tuning_job_id',
  });
}

/** Converts runs to jobs, with their job data. */
export async function toJobs(ctx: Context, runs: TextRun[]): Promise<FineTuningJob[]> {
  if (runs.length === 0) return [];
  const jobs = await selectJobs(
    ctx.db,
    runs.map(({ run_id }) => run_id),
  );
  const models = await listFineTunes(ctx.db, {
    userId: ctx.caller.userId,
    assetIds: runs.map(({ model_id }) => model_id),
  });
  const names = new Map(models.map(({ assetId, name }) => [assetId, name]));
  const now = ctx.clock.now();
  return runs.map((run) =>
    toJob(run, { job: jobs.get(run.run_id), fineTunedModel: names.get(run.model_id) ?? null, now }),
  );
}

/** Converts one run to a job. */
export async function toOneJob(ctx: Context, run: Run): Promise<FineTuningJob> {
  const [job] = await toJobs(ctx, [run].filter(isText));
  if (!job) throw new Error(`No job for run ${run.run_id}`);
  return job;
}

/** Returns the caller's jobs, newest first. Throws AppError 'invalid_request' for an unknown `after`. */
export async function listJobs(
  ctx: Context,
  { query: { limit, after } }: InputOf<typeof list>,
): Promise<ResponseOf<typeof list>> {
  const cursor = after && fromFlatId(after);
  const asked = { query: { limit, cursor, kind: 'text' as const }, params: undefined, body: undefined };
  const { runs, next_cursor: next } = await listRuns(ctx, asked).catch((error: unknown) => {
    throw error instanceof AppError && error.param === 'cursor'
      ? refused('after', `after: there is no fine-tuning job '${after}'`, error)
      : error;
  });
  return { object: 'list', data: await toJobs(ctx, runs.filter(isText)), has_more: next !== null };
}

function isText(run: Run): run is TextRun {
  return run.kind === 'text';
}
