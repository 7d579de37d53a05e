import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type {
  FineTuningEvent,
  FineTuningJob,
  listFineTuningCheckpoints as listCheckpointsEndpoint,
  listFineTuningEvents as listFineTuningEventsEndpoint,
} from '@bakehouse/contract/fine-tuning-jobs';
import { formatBgl } from '@bakehouse/contract/money';
import type { Run } from '@bakehouse/contract/runs';
import { selectNewestMetrics } from '../../../engine/reports/attempt-log.ts';
import type { Context } from '../../../platform/context.ts';
import { invalidParam } from '../../../platform/errors.ts';
import { readPrices } from '../../billing/prices/read-prices.ts';
import { readJobRun, toOneJob, toSeconds } from './jobs.ts';

/** `endLines` returns at most this many lines. */
const END_LINES_MAX = 2;

const FORMAT_IS_PAID =
  'Answers are not held to response_format while they are written: an answer that matches it earns 1 in addition to the score of the grader';

type Line = Pick<FineTuningEvent, 'message'> & Partial<FineTuningEvent> & { key: string; at: string };

type Points = Awaited<ReturnType<typeof selectNewestMetrics>>;

/**
 * Returns a job's events, newest first. Throws AppError 'not_found', and 'invalid_request' for an unknown
 * `after`.
 */
export async function listEvents(
  ctx: Context,
  { params, query: { limit, after } }: InputOf<typeof listFineTuningEventsEndpoint>,
): Promise<ResponseOf<typeof listFineTuningEventsEndpoint>> {
  const run = await readJobRun(ctx, params.fine_tuning_job_id);
  const job = await toOneJob(ctx, run);
  const prefix = `ftevent-${run.run_id.replaceAll('-', '')}-`;
  const [, step] = /-step-(\d{1,9})$/.exec(after ?? '') ?? [];
  // Read only the points that fit on the page, and the last point of the previous page.
  const points = await selectNewestMetrics(ctx.db, run.run_id, {
    upToStep: step === undefined ? null : Number(step),
    limit: limit + END_LINES_MAX + 1,
  });
  const lines = [
    ...(await endLines(ctx, run, job.fine_tuned_model)).toReversed(),
    ...points.map((point) => toMetricsLine(point, run)),
    ...beginLines(run, job).toReversed(),
  ];
  const events = lines.map(
    ({ key, at, ...line }): FineTuningEvent => ({
      ...{ id: `${prefix}${key}`, object: 'fine_tuning.job.event' },
      ...{ created_at: toSeconds(at), level: 'info', type: 'message', data: null },
      ...line,
    }),
  );
  const first = after === undefined ? 0 : events.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && first === 0) throw invalidParam('after', `after: there is no event '${after}'`);
  const data = events.slice(first, first + limit);
  return { object: 'list', data, has_more: first + limit < events.length };
}

function beginLines(run: Run, job: FineTuningJob): Line[] {
  const { created_at: at, started_at: startedAt } = run;
  const isValidated = run.kind === 'text' && run.validation;
  const files = isValidated ? 'training file and the validation file' : 'training file';
  const cost = `Quote: ${job.quote} BGL. Spending limit: ${job.ceiling} BGL, the most that is charged`;
  const hasFormat = job.method?.type === 'reinforcement' && job.method.reinforcement.response_format;
  return [
    { key: 'created', at, message: `Created fine-tuning job: ${job.id}` },
    { key: 'quoted', at, message: `Validated the ${files}. ${cost}` },
    ...(hasFormat ? [{ key: 'format', at, message: FORMAT_IS_PAID }] : []),
    ...(startedAt ? [{ key: 'started', at: startedAt, message: 'Fine-tuning job started' }] : []),
  ];
}

function toMetricsLine({ step, at, values }: Points[number], { steps_total: total }: Run): Line {
  const { loss, eval_loss: evalLoss } = values;
  const messages = [
    ...(loss === undefined ? [] : [`training loss=${loss.toFixed(2)}`]),
    ...(evalLoss === undefined ? [] : [`validation loss=${evalLoss.toFixed(2)}`]),
  ];
  return {
    ...{ key: `step-${step}`, at: at.toISOString(), type: 'metrics' },
    message: `Step ${step}/${total}${messages.length > 0 ? `: ${messages.join(', ')}` : ''}`,
    data: { step, total_steps: total, ...toMetrics(values) },
  };
}

/** Renames the metrics that have other names in OpenAI's API. */
function toMetrics({ loss, eval_loss: evalLoss, ...others }: Record<string, number>): Record<string, number> {
  return {
    ...others,
    ...(loss !== undefined && { train_loss: loss }),
    ...(evalLoss !== undefined && { valid_loss: evalLoss }),
  };
}

async function endLines(ctx: Context, run: Run, name: string | null): Promise<Line[]> {
  const { state, ended_at: at, reason, charged } = run;
  if (at === null) return [];
  const cost =
    charged === null
      ? ''
      : ` Charged: ${charged} BGL (quote: ${run.quote.total} BGL, spending limit: ${run.ceiling} BGL).`;
  const level = state === 'completed' ? 'info' : state === 'failed' ? 'error' : 'warn';
  const ended: Line = { key: 'ended', at, level, message: reason + cost };
  return name === null ? [ended] : [ended, { key: 'callable', at, message: await describeCall(ctx, name) }];
}

/** Returns the only checkpoint that a run stores, which is the one with the lowest held-out loss. */
export async function listCheckpoints(
  ctx: Context,
  { params: { fine_tuning_job_id: id } }: InputOf<typeof listCheckpointsEndpoint>,
): Promise<ResponseOf<typeof listCheckpointsEndpoint>> {
  const run = await readJobRun(ctx, id);
  const { fine_tuned_model: name } = await toOneJob(ctx, run);
  const { best_step: best, train_loss: trainLoss, eval_loss: validLoss } = run.summary ?? {};
  const numbers = { step: best ?? run.step, train_loss: trainLoss, valid_loss: validLoss };
  const metrics = Object.fromEntries(
    Object.entries(numbers).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
  const data =
    name === null || run.ended_at === null
      ? []
      : [
          {
            id: id.replace('ftjob-', 'ftckpt_'),
            object: 'fine_tuning.job.checkpoint' as const,
            created_at: toSeconds(run.ended_at),
            ...{ fine_tuned_model_checkpoint: name, fine_tuning_job_id: id, metrics },
            step_number: metrics.step ?? run.step,
          },
        ];
  const [one = null] = data.map((checkpoint) => checkpoint.id);
  return { object: 'list', data, first_id: one, last_id: one, has_more: false };
}

/** Describes how to call a fine-tune, and its cost besides tokens. */
async function describeCall({ db, clock, config }: Context, name: string): Promise<string> {
  const prices = await readPrices(db, clock.now());
  const [cpu, gpu] = (['text_serving:CPU', 'text_serving:GPU'] as const).map((id) =>
    formatBgl(prices[id].unitPriceMicro),
  );
  const sleep =
    config.idleMinutes > 0
      ? `, and lets it sleep after ${config.idleMinutes} minutes without one`
      : ', until you terminate it';
  return `Call it as the model '${name}'. Its first call deploys it, at ${cpu} BGL an hour on the CPU or ${gpu} on a GPU${sleep}`;
}
