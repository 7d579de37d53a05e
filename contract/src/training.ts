import * as z from 'zod';
import { userId } from './accounts.ts';
import { quote } from './credits.ts';
import { pictureTrainingFields, samplePrompt } from './diffusion-fields.ts';
import { endpoint } from './endpoint.ts';
import { boundedBy, numberOf } from './fields/bounded-number.ts';
import { countOfGpus } from './fields/count-of-gpus.ts';
import { flag } from './fields/flag.ts';
import { HUB_MODEL_ID_LENGTH_MAX, hubModelId } from './fields/hub-model-id.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import {
  fineTuneDefaults,
  fineTuneNumbers,
  loraTargetModules,
  segmentationMethods,
} from './fine-tune-numbers.ts';
import { dataFormats, gpuTypes } from './limits.ts';
import { bgl, bglInput, positiveBgl } from './money.ts';
import { heldOutAnswers } from './runtime/report.ts';
import { validateReport } from './runtime/train-spec.ts';

/** The fields that training and its validation share, with their bounds and messages. */
const trainingFields = {
  epochs: numberOf(fineTuneNumbers.epochs),
  learning_rate: numberOf(fineTuneNumbers.learning_rate),
  /** Left out: question and answer where their columns are named, else what the file is recognised as. */
  data_format: z.enum(dataFormats).nullish(),
  /** Of `prompt_completion`; of `text`, `messages` and `sharegpt` the input column holds everything. */
  input_column: z.string().nullish(),
  output_column: z.string().nullish(),
  /**
   * A column with a system prompt for each row's conversation. Left out: the one that is called so, if
   * there is one; empty: none.
   */
  system_column: z.string().nullish(),
  segmentation_method: z.enum(segmentationMethods).default(fineTuneDefaults.segmentation_method),
  batch_size: numberOf(fineTuneNumbers.batch_size),
  eval_batch_size: numberOf(fineTuneNumbers.eval_batch_size),
  gradient_accumulation_steps: numberOf(fineTuneNumbers.gradient_accumulation_steps),
  max_chunk_size: numberOf(fineTuneNumbers.max_chunk_size),
  stride: numberOf(fineTuneNumbers.stride),
  min_segment_length: numberOf(fineTuneNumbers.min_segment_length),
  train_test_split: numberOf(fineTuneNumbers.train_test_split),
  /** Of the split, of the order of the rows and of the adapter's first weights. Left out: 42. */
  seed: boundedBy({ label: 'Seed', min: 0, max: 2 ** 31 - 1, step: 1 }).optional(),
  lora_r: numberOf(fineTuneNumbers.lora_r),
  /** Left out: twice the rank. */
  lora_alpha: boundedBy({ label: 'LoRA alpha', min: 0, aboveMin: true, max: 1024, step: 0.5 }).optional(),
  lora_dropout: numberOf(fineTuneNumbers.lora_dropout),
  lora_target_modules: z
    .array(z.enum(loraTargetModules))
    .min(1, 'Select at least one target module')
    .max(loraTargetModules.length, 'Select each target module once')
    .default([...loraTargetModules]),
};

/** A load that would slow a run down more than this is estimated no worse: nobody could tell. */
export const SLOWDOWN_MAX = 20;

/** What a run may cost at most, in BGL. At it the run saves its work and stops; in its last step it finishes, and costs no more. */
const ceiling = positiveBgl('Ceiling');

/** What a person has seen of the cost, and how far it may go. */
export const agreedCost = {
  /** Half more than the quote unless said. */
  ceiling: ceiling.optional(),
  /** In BGL, the total that it was quoted at: where the run costs more by now, it is refused with the new price. */
  cost_max: bglInput.optional(),
  /**
   * The `slowdown` of the estimate that was shown: the run is held for that load. The present one unless said. What
   * is charged is the time that it takes.
   */
  slowdown: z
    .number('slowdown must be a number')
    .min(1, 'slowdown must be at least 1')
    .max(SLOWDOWN_MAX, `slowdown must be at most ${SLOWDOWN_MAX}`)
    .optional(),
};

export const fineTunePayload = only({
  /** The dataset. */
  asset_id: idOf('dataset'),
  model_name: z.string().trim().min(1, 'Name is required'),
  /** Asset id of the base model; with `hf_model_id` a name alone. */
  base_model: z.string().min(1, 'No model has this id').max(HUB_MODEL_ID_LENGTH_MAX, 'No model has this id'),
  /** Name on the public hub of the base model, of which the caller has a clone. */
  hf_model_id: hubModelId.optional(),
  file_name: z.string().min(1),
  accelerator_type: z
    .enum(gpuTypes, 'Please select a GPU configuration')
    .default(fineTuneDefaults.accelerator_type),
  accelerator_count: countOfGpus.default(fineTuneDefaults.accelerator_count),
  user_id: userId,
  ...agreedCost,
  ...trainingFields,
});

export type FineTunePayload = z.output<typeof fineTunePayload>;

/** As it was stored. */
const storedPayload = z.object(fineTunePayload.shape);

/** A long data file that is read in the background, for the validation of a run. */
const dataReading = z.object({
  reading_id: z.string(),
  dataset_id: z.string(),
  file_name: z.string(),
  state: z.enum(['reading', 'done', 'failed', 'cancelled']),
  rows_read: z.int(),
  /** 0 to 100. */
  progress: z.number(),
  /** Why it failed. */
  reason: z.string().nullable(),
  created_at: z.string(),
  ended_at: z.string().nullable(),
});

export type DataReading = z.infer<typeof dataReading>;

/** What a run would take and cost. */
export const costEstimate = z.object({
  usd_cost: z.string(),
  duration_hours: z.number(),
  token_cost: z.string(),
  quote,
  /** What the run may cost at most unless `ceiling` says otherwise: half more than the quote. */
  ceiling: bgl,
  /** The present load that this was estimated for: how many times longer than on an idle machine. */
  slowdown: z.number(),
  /** The same in words; null where the load does not matter, as on a GPU. */
  load: z.string().nullable(),
});

/** Where it will run: the chosen GPU, else another one of this machine that is large enough, else its CPU. */
export const runPlacement = z.object({ device: z.enum(['gpu', 'cpu']), description: z.string() });

export const validateFineTune = endpoint({
  method: 'POST',
  path: '/api/v1/fine-tune/validate',
  access: 'key',
  operation: 'validate parameters',
  summary: 'Validate a fine-tune: its data, cost and warnings',
  body: only({
    dataset_id: idOf('dataset'),
    file_name: z.string().min(1),
    /** Asset id of the base model. */
    model_id: idOf('model'),
    gpu_type: z
      .enum(gpuTypes, 'Please select a GPU configuration')
      .default(fineTuneDefaults.accelerator_type),
    accelerator_count: countOfGpus.default(fineTuneDefaults.accelerator_count),
    ...trainingFields,
  }),
  response: z.object({
    critical_errors: z.array(z.string()),
    warnings: z.array(z.string()),
    cost_estimate: costEstimate,
    recommendations: z.object({
      /** Cheapest first; `cost` is what the run costs there. */
      recommended_gpus: z.array(z.object({ gpu_type: z.enum(gpuTypes), description: z.string(), cost: bgl })),
    }),
    placement: runPlacement,
    /**
     * Null: every row has been counted. Else the file is long and still being read in the background, and
     * costs and counts are an estimate from its first rows; the same call answers with the whole once
     * the reading is done.
     */
    reading: dataReading.nullable(),
    /** What was read; `memory_bytes` is what the run needs where it will run. */
    data: validateReport
      .omit({
        ...{ critical_errors: true, warnings: true, gguf_obstacle: true },
        ...{ train_padded_tokens: true, eval_padded_tokens: true },
      })
      .nullable(),
  }),
});

export type FineTuneValidation = z.output<NonNullable<(typeof validateFineTune)['response']>>;

export const listReadings = endpoint({
  method: 'GET',
  path: '/api/v1/fine-tune/readings',
  access: 'key',
  summary: 'List the latest 50 background readings of data files, running or ended within the last hour',
  response: z.object({ readings: z.array(dataReading) }),
});

export const cancelReading = endpoint({
  method: 'POST',
  path: '/api/v1/fine-tune/readings/:readingId/cancel',
  access: 'key',
  summary: 'Cancel the reading of a data file',
  params: z.object({ readingId: idOf('reading') }),
  response: dataReading,
});

export const runStates = [
  'queued',
  'starting',
  'running',
  'stopping',
  'completed',
  'cancelled',
  'failed',
] as const;

/** How a run can have ended, or that it has not. */
export const runFilters = ['active', 'completed', 'cancelled', 'failed'] as const;
export type RunFilter = (typeof runFilters)[number];

const anyRun = z.object({
  run_id: z.string(),
  user_id: z.string(),
  title: z.string(),
  /** The model asset that the run makes. */
  model_id: z.string(),
  base_model: z.object({ dataset_id: z.string(), revision_id: z.string(), title: z.string() }),
  state: z.enum(runStates),
  /** Why it is in this state; for a waiting run its position and what blocks it. */
  reason: z.string(),
  phase: z.string().nullable(),
  step: z.int(),
  steps_total: z.int(),
  /** 0 to 100. */
  progress: z.number(),
  elapsed_seconds: z.number(),
  remaining_seconds: z.number().nullable(),
  device: z.string(),
  quote,
  /** BGL held now, and charged at the end; null until settled. */
  held: z.string(),
  charged: z.string().nullable(),
  /** What would be charged if it ended now; once settled, what was. */
  cost_so_far: bgl,
  /** What it may cost at most, in BGL, however often it is resumed. */
  ceiling: bgl,
  /** Why it was stopped before its end: at its ceiling, for want of credits, or at the budget of its API key. Null: none of these. */
  stop_reason: z.enum(['ceiling', 'credits', 'budget']).nullable(),
  /** What is held if it is resumed now, in BGL; null: it cannot be resumed. */
  resume_hold: z.string().nullable(),
  /** What of that is for saved work which has not been charged yet, in BGL; null: there is none. */
  resume_unpaid: z.string().nullable(),
  /** Its ceiling if it is resumed without another; null: it cannot be resumed. */
  resume_ceiling: bgl.nullable(),
  /** Times that it was started again after an interruption; what its owner cancelled and resumed was none. */
  restarts: z.int(),
  /**
   * Of a completed run, among others: `eval_loss_base` and `eval_loss` (held-out loss of the base model and of the
   * adapter that was kept), `best_step` (the step which that is of: where the held-out loss was lowest),
   * `train_loss` (mean over all steps), `train_loss_end` (mean over the last tenth of the steps),
   * `target_modules` (those of the chosen ones that the base model has, and that got an adapter).
   */
  summary: z.record(z.string(), z.union([z.number(), z.string(), z.null()])).nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});

const trainedOn = z.object({ dataset_id: z.string(), revision_id: z.string(), title: z.string() });

/** A fine-tune of a language model. */
const textRun = anyRun.extend({
  kind: z.literal('text'),
  dataset: trainedOn.extend({ file_name: z.string() }),
  parameters: storedPayload.omit({
    user_id: true,
    asset_id: true,
    base_model: true,
    hf_model_id: true,
    file_name: true,
    ceiling: true,
    cost_max: true,
    slowdown: true,
  }),
});

/** A LoRA of an image model, from pictures. */
const picturesRun = anyRun.extend({
  kind: z.literal('pictures'),
  /** The file with the captions; null: a text file beside each picture. */
  dataset: trainedOn.extend({ file_name: z.string().nullable() }),
  parameters: z.object(pictureTrainingFields),
});

const run = z.discriminatedUnion('kind', [textRun, picturesRun]);

const runKinds = ['text', 'pictures'] as const;

export type Run = z.infer<typeof run>;
export type TextRun = z.infer<typeof textRun>;
export type PicturesRun = z.infer<typeof picturesRun>;

/** Of a fine-tune of either kind. */
const kindFilter = z.enum(runKinds, `kind must be one of ${runKinds.join(', ')}`).optional();

const runIdParams = z.object({ runId: idOf('run') });

export const listRuns = endpoint({
  method: 'GET',
  path: '/api/v1/runs',
  access: 'key',
  summary: 'List runs, newest first unless sorted by name',
  query: z.object({
    /** One model's, or those of several: ids with commas between them. */
    model_id: z
      .string()
      .transform((ids) => ids.split(','))
      .pipe(z.array(idOf('model')).max(100, 'model_id can hold at most 100 ids'))
      .optional(),
    kind: kindFilter,
    /** Only those that are under way, or ended within the last hour. */
    recent: flag.optional(),
    /** Part of the name of the run, of its base model or of its dataset. */
    search: z.string().trim().max(200, 'Search for at most 200 characters').optional(),
    /** `active`: those that have not ended. */
    state: z.enum(runFilters, `state must be one of ${runFilters.join(', ')}`).optional(),
    /** The newest first unless by name. */
    sort: z.enum(['created', 'title']).optional(),
    limit: z.coerce.number().int().min(1).max(100).default(50),
    cursor: idOf('run').optional(),
  }),
  response: z.object({ runs: z.array(run), next_cursor: z.string().nullable() }),
});

export const runStats = endpoint({
  method: 'GET',
  path: '/api/v1/runs/stats',
  access: 'key',
  operation: 'fetch runs',
  summary: 'Get run counts by outcome and their total cost',
  query: z.object({ kind: kindFilter }),
  response: z.object({
    active: z.int(),
    completed: z.int(),
    cancelled: z.int(),
    failed: z.int(),
    /** Charged so far, in BGL. */
    cost: bgl,
    /** Held for those that have not ended, in BGL. */
    held: bgl,
  }),
});

export const getRun = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId',
  access: 'key',
  summary: 'Get a run',
  params: runIdParams,
  response: run,
});

export const getRunMetrics = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/metrics',
  access: 'key',
  summary: "Get a run's metrics, one point per logged step",
  params: runIdParams,
  query: z.object({
    /** Only points that were reported, or to which something was added, after this instant. */
    after: z.iso.datetime({ error: 'after must be an instant such as 2026-11-20T08:00:00Z' }).optional(),
  }),
  response: z.object({
    points: z.array(z.object({ step: z.int(), at: z.string(), values: z.record(z.string(), z.number()) })),
  }),
});

export const getRunLogs = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/logs',
  access: 'key',
  summary: "Get a run's last log lines",
  params: runIdParams,
  query: z.object({ limit: z.coerce.number().int().min(1).max(1000).default(200) }),
  response: z.object({ lines: z.array(z.object({ at: z.string(), line: z.string() })) }),
});

export const getRunSamples = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/samples',
  access: 'key',
  summary: 'Get what each checkpoint of a run on pictures has drawn',
  params: runIdParams,
  response: z.object({
    prompts: z.array(samplePrompt),
    /** By their steps; that of step 0 is the base model. Pictures are in the order of the prompts. */
    checkpoints: z.array(
      z.object({
        step: z.int(),
        pictures: z.array(
          z.object({
            /** Opens without a key for a while; relative to this server, unless its files are stored elsewhere. */
            url: z.string(),
            width: z.int(),
            height: z.int(),
          }),
        ),
      }),
    ),
  }),
});

export const getHeldOutAnswers = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/held-out-answers',
  access: 'key',
  summary: 'Get base and fine-tuned answers on held-out rows',
  params: runIdParams,
  /** Null: nobody has asked them, or not yet. */
  response: z.object({ held_out_answers: heldOutAnswers.nullable() }),
});

/** The run saves its work and ends; the time that it took is charged, the rest released. */
export const cancelRun = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/cancel',
  access: 'key',
  summary: 'Cancel a run',
  params: runIdParams,
  response: run,
});

/**
 * A cancelled or failed run goes on from its last checkpoint, under the same id and with credits
 * held anew for what is left. A higher ceiling may be set. Its work is kept for seven days.
 */
export const resumeRun = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/resume',
  access: 'key',
  summary: 'Resume a cancelled or failed run',
  spends: true,
  params: runIdParams,
  body: only({ ceiling: ceiling.optional() })
    .nullish()
    .transform((body) => body ?? {}),
  response: run,
});
