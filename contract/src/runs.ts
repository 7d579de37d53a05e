import * as z from 'zod';
import { quote } from './credits.ts';
import { pictureTrainingFields, pictureTrainingNumbers, samplePrompt } from './diffusion-fields.ts';
import { endpoint } from './endpoint.ts';
import { exportFormats } from './exports.ts';
import { flag } from './fields/flag.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { bgl } from './money.ts';
import { heldOutAnswers } from './runtime/report.ts';
import { ceiling, storedPayload } from './training.ts';

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
  /** Whether it is stopped there before its last step; otherwise it continues for longer, without further cost. */
  stops_at_ceiling: z.boolean(),
  /** Why it was stopped before its end: at its ceiling, for want of credits, at the budget of its API key, or after four times the estimated time. Null: none of these. */
  stop_reason: z.enum(['ceiling', 'credits', 'budget', 'time']).nullable(),
  /** What is held if it is resumed now, in BGL; null: it cannot be resumed. */
  resume_hold: z.string().nullable(),
  /** What of that is for saved work which has not been charged yet, in BGL; null: there is none. */
  resume_unpaid: z.string().nullable(),
  /** Its ceiling if it is resumed without another; null: it cannot be resumed. */
  resume_ceiling: bgl.nullable(),
  /** Times that it was started again after an interruption; what its owner cancelled and resumed was none. */
  restarts: z.int(),
  /** What it was estimated to need in memory, in bytes; null: that was not estimated. */
  memory_bytes: z.int().nullable(),
  /**
   * Of a completed run, among others: `eval_loss_base` and `eval_loss` (held-out loss of the base model and of the
   * adapter that was kept), or of GRPO `eval_reward_base` and `eval_reward` (mean reward of an answer to a held-out prompt),
   * `best_step` (the step which that is of: where the held-out loss was lowest, or the reward highest),
   * `stopped_early` (evaluations without gain after which it ended; not there where it went through all epochs),
   * `train_loss` (mean over all steps), `train_loss_end` (mean over the last tenth of the steps),
   * `target_modules` (those of the chosen ones that the base model has, and that got an adapter),
   * `peak_memory_bytes` (what its process, or its first GPU, held at most). Of an export
   * `prompts` (held-out ones that the fine-tune and the exported model were both asked) and `equal_answers`
   * (how many of the answers are the same word for word at temperature 0), and of a GGUF its
   * `file_name` without the ending.
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
  /** The file that is held out whole, and measures the run; null: part of the dataset's rows is held out. */
  validation: trainedOn.extend({ file_name: z.string() }).nullable(),
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

/** A fine-tune as one whole model. Its base model is the fine-tune, and its dataset what that was trained on. */
const exportRun = anyRun.extend({
  kind: z.literal('export'),
  dataset: trainedOn.extend({ file_name: z.null() }),
  parameters: z.object({ format: z.enum(exportFormats) }),
});

const run = z.discriminatedUnion('kind', [textRun, picturesRun, exportRun]);

/** What a run can train: a language model or, on pictures, an image model. */
export const trainingKinds = ['text', 'pictures'] as const;
const runKinds = [...trainingKinds, 'export'] as const;

export type Run = z.infer<typeof run>;
export type TextRun = z.infer<typeof textRun>;
export type PicturesRun = z.infer<typeof picturesRun>;
export type ExportRun = z.infer<typeof exportRun>;

/** Of a fine-tune of text or of pictures, or of an export. */
const kindFilter = z.enum(runKinds, `kind must be one of ${runKinds.join(', ')}`).optional();

export const runIdParams = z.object({ runId: idOf('run') });

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
        /** Whether a model can be made of its LoRA: those of the newest checkpoints are kept until a week after the run. */
        is_kept: z.boolean(),
        /** The model that has its LoRA; null: none was made of it. */
        model_id: z.string().nullable(),
      }),
    ),
  }),
});

/** It costs nothing. The same checkpoint is the same model, however often it is asked for. */
export const makeCheckpointModel = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/checkpoints/:step/model',
  access: 'key',
  operation: 'use the checkpoint',
  summary: 'Make a model of a checkpoint of a run on pictures',
  params: runIdParams.extend({
    step: z.coerce.number('step must be a number').int().min(1).max(pictureTrainingNumbers.steps.max),
  }),
  response: z.object({ model_id: z.string() }),
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
