import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId, toFlatId } from '@bakehouse/contract/fields/flat-id';
import {
  ANSWERS_AUTO,
  type FineTuningJob,
  LEARNING_RATES,
  type listFineTuningJobs as list,
} from '@bakehouse/contract/fine-tuning-jobs';
import type { Run, TextRun } from '@bakehouse/contract/runs';
import type { Context } from '../../../platform/context.ts';
import type { Database, Transaction } from '../../../platform/db/database.ts';
import { AppError, invalidParam, notFoundError } from '../../../platform/errors.ts';
import { listFineTunes } from '../../models/fine-tuned/fine-tuned.ts';
import { toModelName } from '../../models/names/model-name.ts';
import { DEFAULT_SEED } from '../fine-tune-spec.ts';
import { getRun, listRuns } from '../runs/runs.ts';
import { deleteJobsOf, type JobRow, selectJobs, selectJobsOf } from './job-queries.ts';

/** The job status for each state of a run, with an exception in `statusOf`. */
const statuses: Record<Run['state'], FineTuningJob['status']> = {
  queued: 'queued',
  starting: 'queued',
  running: 'running',
  stopping: 'running',
  completed: 'succeeded',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** Error codes of jobs that the server stopped. */
const stopCodes: Record<NonNullable<Run['stop_reason']>, string> = {
  ceiling: 'ceiling_reached',
  credits: 'insufficient_funds',
  time: 'time_limit_reached',
  budget: 'budget_exceeded',
};

/** Returns a caller's run as a job. Only text fine-tunes are jobs. Throws AppError 'not_found'. */
export async function readJobRun(ctx: Context, jobId: string): Promise<TextRun> {
  const runId = fromFlatId(jobId);
  try {
    const run = await getRun(ctx, { params: { runId }, query: undefined, body: undefined });
    if (run.kind === 'text') return run;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
  }
  throw notFoundError(`There is no fine-tuning job '${jobId}'`, { param: 'fine_tuning_job_id' });
}

/** Converts runs to jobs. */
async function toJobs(ctx: Context, runs: TextRun[]): Promise<FineTuningJob[]> {
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

/** Returns the caller's jobs, newest first. Throws AppError 'invalid_request' for an unknown `after`. */
export async function listJobs(
  ctx: Context,
  { query: { limit, after } }: InputOf<typeof list>,
): Promise<ResponseOf<typeof list>> {
  const cursor = after && fromFlatId(after);
  const asked = { query: { limit, cursor, kind: 'text' as const }, params: undefined, body: undefined };
  const { runs, next_cursor: next } = await listRuns(ctx, asked).catch((error: unknown) => {
    throw error instanceof AppError && error.param === 'cursor'
      ? invalidParam('after', `after: there is no fine-tuning job '${after}'`, error)
      : error;
  });
  return { object: 'list', data: await toJobs(ctx, runs.filter(isText)), has_more: next !== null };
}

function isText(run: Run): run is TextRun {
  return run.kind === 'text';
}

type JobDetails = { job: JobRow | undefined; fineTunedModel: string | null; now: Date };

/** Returns a run in the format of OpenAI's API. */
function toJob(run: TextRun, { job, fineTunedModel, now }: JobDetails): FineTuningJob {
  const { parameters } = run;
  const hyperparameters = {
    n_epochs: parameters.epochs,
    batch_size: parameters.batch_size * parameters.gradient_accumulation_steps,
    learning_rate_multiplier: parameters.learning_rate / usualRate(parameters.objective),
  };
  const status = statusOf(run);
  const isDone = status === 'succeeded';
  return {
    id: toFlatId('ftjob-', run.run_id),
    object: 'fine_tuning.job',
    created_at: toSeconds(run.created_at),
    estimated_finish:
      run.remaining_seconds === null ? null : Math.floor(now.getTime() / 1000 + run.remaining_seconds),
    finished_at: run.ended_at === null ? null : toSeconds(run.ended_at),
    model: toModelName(run.base_model.title),
    fine_tuned_model: isDone ? fineTunedModel : null,
    organization_id: run.user_id,
    status,
    error: errorOf(run, status),
    training_file: toFlatId('file-', run.dataset.dataset_id),
    validation_file: run.validation && toFlatId('file-', run.validation.dataset_id),
    result_files: isDone ? [toFlatId('file-', run.run_id)] : [],
    trained_tokens: isDone ? numberOf(run.summary?.tokens) : null,
    hyperparameters,
    ...methodOf(parameters, hyperparameters, job?.reinforcement ?? null),
    seed: parameters.seed ?? DEFAULT_SEED,
    user_provided_suffix: job?.suffix ?? null,
    metadata: job?.metadata ?? null,
    integrations: job?.integrations ?? [],
    run_id: run.run_id,
    model_id: run.model_id,
    quote: run.quote.total,
    ceiling: run.ceiling,
    cost_so_far: run.cost_so_far,
  };
}

function methodOf(
  { objective, beta, generations, eval_steps }: TextRun['parameters'],
  hyperparameters: FineTuningJob['hyperparameters'],
  graded: JobRow['reinforcement'],
): Pick<FineTuningJob, 'method'> {
  if (graded) {
    const ofReinforcement = {
      ...hyperparameters,
      ...{ compute_multiplier: generations / ANSWERS_AUTO, eval_interval: eval_steps || ('auto' as const) },
      ...{ eval_samples: 1 as const, reasoning_effort: 'default' as const },
    };
    return {
      method: { type: 'reinforcement', reinforcement: { ...graded, hyperparameters: ofReinforcement } },
    };
  }
  const chosen = { hyperparameters: { ...hyperparameters, beta } };
  switch (objective) {
    case 'sft':
      return { method: { type: 'supervised', supervised: { hyperparameters } } };
    case 'dpo':
      return { method: { type: 'dpo', dpo: chosen } };
    case 'kto':
      return { method: { type: 'kto', kto: chosen } };
    case 'grpo':
      return { method: { type: 'grpo', grpo: chosen } };
    case 'reward':
      return {};
  }
}

/** Runs of reward models from earlier versions used the default rate of SFT. */
function usualRate(objective: TextRun['parameters']['objective']): number {
  return LEARNING_RATES[objective === 'reward' ? 'sft' : objective];
}

/** A run that the server stopped counts as failed, because only a failed job shows a reason. */
function statusOf({ state, stop_reason: stopReason }: Run): FineTuningJob['status'] {
  return state === 'cancelled' && stopReason !== null ? 'failed' : statuses[state];
}

function errorOf(
  { reason, stop_reason: stopReason }: Run,
  status: FineTuningJob['status'],
): FineTuningJob['error'] {
  if (status !== 'failed') return null;
  return { code: stopReason ? stopCodes[stopReason] : 'run_failed', message: reason, param: null };
}

function numberOf(value: string | number | null | undefined): number | null {
  return typeof value === 'number' ? Math.round(value) : null;
}

/** Converts a run's ISO timestamp to seconds. */
export function toSeconds(instant: string): number {
  return Math.floor(Date.parse(instant) / 1000);
}

/** Returns a user's job data for the data export. */
export async function listJobRecords(db: Database, userId: string): Promise<JobRow[]> {
  return selectJobsOf(db, userId);
}

/** Step: deletes the job data of a deleted user. */
export async function deleteUserJobs(tx: Transaction, userId: string): Promise<void> {
  await deleteJobsOf(tx, userId);
}

/** Converts one run to a job. */
export async function toOneJob(ctx: Context, run: Run): Promise<FineTuningJob> {
  const [job] = await toJobs(ctx, [run].filter(isText));
  if (!job) throw new Error(`No job for run ${run.run_id}`);
  return job;
}
