import * as z from 'zod';
import { endpoint } from './endpoint.ts';
import { boundedBy } from './fields/bounded-number.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { nameText, tags } from './fields/text.ts';
import { fineTuneNumbers } from './fine-tune-numbers.ts';
import { MODEL_NAME_LENGTH_MIN, NAME_LENGTH_MAX } from './limits.ts';
import { bgl } from './money.ts';
import { textRun } from './runs.ts';
import {
  countRuns,
  REPEATED_PARAMETER,
  REPEATED_VALUE,
  SWEEP_AXES_MAX,
  SWEEP_RUNS_MAX,
  SWEEP_VALUES_MAX,
  SWEEP_VALUES_MIN,
  type SweepParameter,
  sweepParameters,
  TOO_FEW_VALUES,
  TOO_MANY_VALUES,
  tooManyRuns,
} from './sweep-axes.ts';
import { fineTunePayload, fineTuneValidation } from './training.ts';

/** A parameter with values of its own bounds. */
function axisOf(parameter: SweepParameter) {
  return only({
    parameter: z.literal(parameter),
    values: z
      .array(boundedBy(fineTuneNumbers[parameter]))
      .min(SWEEP_VALUES_MIN, TOO_FEW_VALUES)
      .max(SWEEP_VALUES_MAX, TOO_MANY_VALUES)
      .refine((values) => new Set(values).size === values.length, REPEATED_VALUE),
  });
}

const [first, ...others] = sweepParameters;

/** What the runs of a sweep differ in, and what they have in common. */
const sweepFields = {
  /** Each combination of the values is a run, of at most 16. */
  axes: z
    .array(
      z.discriminatedUnion('parameter', [axisOf(first), ...others.map(axisOf)], {
        error: `parameter must be one of ${sweepParameters.join(', ')}`,
      }),
    )
    .min(1, 'A sweep has at least one parameter')
    .max(SWEEP_AXES_MAX, `A sweep has at most ${SWEEP_AXES_MAX} parameters`)
    .refine(
      (axes) => new Set(axes.map(({ parameter }) => parameter)).size === axes.length,
      REPEATED_PARAMETER,
    )
    .refine((axes) => countRuns(axes) <= SWEEP_RUNS_MAX, {
      error: ({ input }) => tooManyRuns(countRuns(input as { values: number[] }[])),
    }),
  /**
   * As of one fine-tune. `ceiling` is what each run may cost, and `cost_max` what all of them together were quoted at; what the axes
   * name is theirs.
   */
  fine_tune_payload: fineTunePayload,
};

export const quoteSweep = endpoint({
  method: 'POST',
  path: '/api/v1/sweeps/quote',
  access: 'key',
  operation: 'validate parameters',
  summary: 'Validate and quote a sweep: its runs, and what they cost together',
  body: only(sweepFields),
  /**
   * As of one fine-tune, and of all runs together: `cost_estimate` is their sum, with the time that they take one after the other.
   * What stands in the way of some runs alone names them. `data` is what the first run reads.
   */
  response: fineTuneValidation.extend({
    runs: z.array(
      z.object({
        /** Its values, by their parameters. */
        parameters: z.partialRecord(z.enum(sweepParameters), z.number()),
        cost: bgl,
        duration_hours: z.number(),
      }),
    ),
  }),
});

export type SweepQuote = z.output<NonNullable<(typeof quoteSweep)['response']>>;

const measures = ['eval_loss', 'eval_reward', 'eval_reward_accuracy'] as const;

const sweptRun = textRun.extend({
  /** What was measured on the held-out rows: their loss, or with GRPO their mean reward. Null: nothing yet. */
  held_out: z
    .object({
      /** The lowest loss, or highest reward, and its step. */
      best: z.number(),
      best_step: z.int(),
      last: z.number(),
      /** Of DPO, KTO and reward models, at that step. */
      reward_accuracy: z.number().nullable(),
    })
    .nullable(),
});

const sweep = z.object({
  sweep_id: z.string(),
  user_id: z.string(),
  title: z.string(),
  /** What the runs differ in. */
  parameters: z.array(z.enum(sweepParameters)),
  /** In the order of their values. */
  runs: z.array(sweptRun),
  /** How many rows each run holds out: the same ones. Null until the first run has read them. */
  held_out_rows: z.int().nullable(),
  /**
   * What the best run is chosen by: the lowest held-out loss, or with GRPO the highest reward. Where the runs differ in what the loss is
   * made of (`beta` and the weights of DPO and KTO), the highest reward accuracy.
   */
  measure: z.enum(measures),
  /** The best of the completed runs so far; null: there is none, or there are fewer than 5 held-out rows to tell by. */
  best_run_id: z.string().nullable(),
  /** Of all runs together, in BGL. */
  cost_so_far: bgl,
  held: bgl,
  created_at: z.string(),
});

export type Sweep = z.infer<typeof sweep>;
export type SweptRun = Sweep['runs'][number];

/** A sweep as lists show it. */
const listedSweep = sweep
  .pick({ sweep_id: true, title: true, parameters: true, cost_so_far: true, created_at: true })
  .extend({ runs: z.array(textRun.pick({ run_id: true, state: true })) });

export type ListedSweep = z.infer<typeof listedSweep>;

export const listSweeps = endpoint({
  method: 'GET',
  path: '/api/v1/sweeps',
  access: 'key',
  operation: 'fetch sweeps',
  summary: 'List sweeps, newest first',
  query: z.object({
    /** Part of the name. */
    search: z.string().trim().max(200, 'Search for at most 200 characters').optional(),
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: idOf('sweep').optional(),
  }),
  response: z.object({ sweeps: z.array(listedSweep), next_cursor: z.string().nullable() }),
});

const sweepIdParams = z.object({ sweepId: idOf('sweep') });

/**
 * Makes a model for each combination of the values and starts the run that fills it: all of them, or none. Each run is held, charged,
 * cancelled and resumed as any other.
 */
export const startSweep = endpoint({
  method: 'POST',
  path: '/api/v1/sweeps',
  access: 'key',
  operation: 'start the sweep',
  summary: 'Start a fine-tune for each combination of one or two parameters',
  spends: true,
  status: 201,
  body: only({
    title: nameText(NAME_LENGTH_MAX).min(
      MODEL_NAME_LENGTH_MIN,
      `Model name must have at least ${MODEL_NAME_LENGTH_MIN} characters`,
    ),
    tags: tags.default([]),
    ...sweepFields,
  }),
  response: z.object({ sweep_id: z.string(), run_ids: z.array(z.string()) }),
});

export const getSweep = endpoint({
  method: 'GET',
  path: '/api/v1/sweeps/:sweepId',
  access: 'key',
  summary: 'Get a sweep with its runs, what was measured, and the best one',
  params: sweepIdParams,
  response: sweep,
});

/** The runs that have not ended save their work and end, as if each were cancelled; the others stay. */
export const cancelSweep = endpoint({
  method: 'POST',
  path: '/api/v1/sweeps/:sweepId/cancel',
  access: 'key',
  summary: 'Cancel the runs of a sweep that have not ended',
  params: sweepIdParams,
  response: sweep,
});
