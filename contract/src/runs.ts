import * as z from 'zod';
import { assetRevision } from './assets.ts';
import { quote } from './credits.ts';
import { logLines } from './deployments/text.ts';
import { pictureTrainingFields, pictureTrainingNumbers, samplePrompt } from './diffusion-fields.ts';
import { endpoint } from './endpoint.ts';
import { exportFormats } from './exports.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import { ceiling, storedPayload } from './fine-tuning.ts';
import { bgl } from './money.ts';
import { heldOutAnswers } from './runtime/report.ts';

export const runStates = [
  'queued',
  'starting',
  'running',
  'stopping',
  'completed',
  'cancelled',
  'failed',
] as const;

/** Filters for a run's state. */
export const runFilters = ['active', 'completed', 'cancelled', 'failed'] as const;
export type RunFilter = (typeof runFilters)[number];

const anyRun = z.object({
  run_id: z.string(),
  user_id: z.string(),
  title: z.string(),
  /** The resulting model asset. */
  model_id: z.string(),
  base_model: assetRevision,
  state: z.enum(runStates),
  /** Why the run is in this state. For a waiting run, its position and what blocks it. */
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
  /** BGL that are held now, and BGL that were charged at the end (null until then). */
  held: z.string(),
  charged: z.string().nullable(),
  /** What the run would cost if it ended now. Once it is charged, the actual cost. */
  cost_so_far: bgl,
  /** Maximum cost in BGL, including all resumes. */
  ceiling: bgl,
  /** True if the run is stopped when it reaches the ceiling. False if it then continues at no extra cost. */
  stops_at_ceiling: z.boolean(),
  /**
   * Why the server stopped the run: it reached its ceiling, the credits or the API key's budget were used up,
   * or it needed four times the estimated time. Null if the server did not stop it.
   */
  stop_reason: z.enum(['ceiling', 'credits', 'budget', 'time']).nullable(),
  /** BGL that resuming would hold now; null if the run cannot be resumed. */
  resume_hold: z.string().nullable(),
  /** Part of `resume_hold` for work that is saved but not charged yet, in BGL; null if there is none. */
  resume_unpaid: z.string().nullable(),
  /** Ceiling if the run is resumed without another one; null if it cannot be resumed. */
  resume_ceiling: bgl.nullable(),
  /** Number of restarts after interruptions. Cancelling and resuming by the owner do not count. */
  restarts: z.int(),
  /** Estimated memory in bytes; null if not estimated. */
  memory_bytes: z.int().nullable(),
  /**
   * For a completed run, among others: `eval_loss_base` and `eval_loss` (held-out loss of the base model and
   * of the selected adapter), or for GRPO `eval_reward_base` and `eval_reward` (mean reward of an answer to a
   * held-out prompt), `best_step` (the selected step, with the lowest held-out loss or highest reward),
   * `stopped_early` (evaluations without improvement after which it ended; absent if it completed all
   * epochs), `train_loss` (mean over all steps), `train_loss_end` (mean over the last tenth of the steps),
   * `target_modules` (chosen modules that exist in the base model and got an adapter), `peak_memory_bytes`
   * (peak of its process or its first GPU). For an export `prompts` (held-out prompts sent to both the
   * fine-tune and the exported model), `equal_answers` (identical answers at temperature 0), and for a GGUF
   * its `file_name` without extension.
   */
  summary: z.record(z.string(), z.union([z.number(), z.string(), z.null()])).nullable(),
  created_at: z.string(),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
});

export const trainingFile = assetRevision.extend({ file_name: z.string() });

/** A fine-tune of a language model. */
export const textRun = anyRun.extend({
  kind: z.literal('text'),
  dataset: trainingFile,
  /** A separate validation file; null if part of the dataset's rows is held out. */
  validation: trainingFile.nullable(),
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

/** A LoRA of an image model, trained on pictures. */
export const picturesRun = anyRun.extend({
  kind: z.literal('pictures'),
  /** The file with the captions; null for a text file next to each picture. */
  dataset: assetRevision.extend({ file_name: z.string().nullable() }),
  parameters: z.object(pictureTrainingFields),
});

/** A run that exports a fine-tune to one whole model. Its base model is the fine-tune. */
export const exportRun = anyRun.extend({
  kind: z.literal('export'),
  dataset: assetRevision.extend({ file_name: z.null() }),
  parameters: z.object({ format: z.enum(exportFormats) }),
});

export const run = z.discriminatedUnion('kind', [textRun, picturesRun, exportRun]);

/** Kinds of runs: a language model, an image model, or an export. */
const runKinds = ['text', 'pictures', 'export'] as const;

export type Run = z.infer<typeof run>;
export type TextRun = z.infer<typeof textRun>;
export type PicturesRun = z.infer<typeof picturesRun>;
export type ExportRun = z.infer<typeof exportRun>;

/** Only runs of this kind. */
const kindFilter = z.enum(runKinds, `kind must be one of ${runKinds.join(', ')}`).optional();

export const runIdParams = z.object({ runId: idOf('run') });

export const listRuns = endpoint({
  method: 'GET',
  path: '/api/v1/runs',
  access: 'key',
  summary: 'List runs, newest first unless sorted by name',
  query: z.object({
    /** Comma-separated model ids. */
    model_id: z
      .string()
      .transform((ids) => ids.split(','))
      .pipe(z.array(idOf('model')).max(100, 'model_id can hold at most 100 ids'))
      .optional(),
    kind: kindFilter,
    /** Part of the name of the run, its base model or its dataset. */
    search: z.string().trim().max(200, 'Search for at most 200 characters').optional(),
    /** `active` runs have not ended. */
    state: z.enum(runFilters, `state must be one of ${runFilters.join(', ')}`).optional(),
    /** Defaults to newest first. */
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
    /** Charged until now in BGL. */
    cost: bgl,
    /** Held for active runs in BGL. */
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
    /** Only points that were added or changed after this time. */
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
  response: logLines,
});

export const getRunSamples = endpoint({
  method: 'GET',
  path: '/api/v1/runs/:runId/samples',
  access: 'key',
  summary: 'Get the sample pictures of each checkpoint of a LoRA training',
  params: runIdParams,
  response: z.object({
    prompts: z.array(samplePrompt),
    /** One entry per step; step 0 is the base model. Pictures are in the order of the prompts. */
    checkpoints: z.array(
      z.object({
        step: z.int(),
        pictures: z.array(
          z.object({
            /**
             * Works without a key for a while; relative to this server, unless files are stored elsewhere.
             */
            url: z.string(),
            width: z.int(),
            height: z.int(),
          }),
        ),
        /**
         * True if a model can still be made from the checkpoint's LoRA. The newest checkpoints are stored
         * until a week after the run.
         */
        is_kept: z.boolean(),
        /** The model that was made from its LoRA; null if there is none. */
        model_id: z.string().nullable(),
      }),
    ),
  }),
});

/** Costs nothing. For the same checkpoint, always returns the same model. */
export const makeCheckpointModel = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/checkpoints/:step/model',
  access: 'key',
  operation: 'use the checkpoint',
  summary: 'Create a model from a checkpoint of a LoRA training',
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
  /** Null if the models have not been asked yet, or will not be. */
  response: z.object({ held_out_answers: heldOutAnswers.nullable() }),
});

/** The run saves its work and ends. The time used is charged, and the remaining credits are released. */
export const cancelRun = endpoint({
  method: 'POST',
  path: '/api/v1/runs/:runId/cancel',
  access: 'key',
  summary: 'Cancel a run',
  params: runIdParams,
  response: run,
});

/**
 * Resumes a cancelled or failed run from its last checkpoint, under the same id. Holds credits for the
 * remaining work, and can set a higher ceiling. Checkpoints are stored for seven days.
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
