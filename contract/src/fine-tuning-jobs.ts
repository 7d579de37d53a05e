import * as z from 'zod';
import { unknownParameter } from './chat.ts';
import { endpoint } from './endpoint.ts';
import { flatId } from './fields/flat-id.ts';
import { metadata } from './fields/metadata.ts';
import { modelName } from './fields/model-name.ts';
import { only } from './fields/only.ts';
import { fineTuneNumbers } from './fine-tune-numbers.ts';
import { answerFormat, grader } from './graders.ts';
import { NAME_LENGTH_MAX, type Objective } from './limits.ts';
import { bgl, positiveBgl } from './money.ts';
import { fileId } from './openai-files.ts';
import { trackerProject } from './trackers.ts';

/** OpenAI's fine-tuning API. A job is a run, so runs and jobs appear in both lists. */
const SUFFIX_LENGTH_MAX = 64;
/** Learning rate for a `learning_rate_multiplier` of 1, usual for LoRA. */
export const LEARNING_RATES = {
  ...{ sft: 2e-4, dpo: 5e-5, kto: 1e-4, grpo: 1e-4 },
} as const satisfies Record<Objective, number>;
/** Default number of epochs. */
export const EPOCHS_AUTO = 3;
const EPOCHS_MAX = 50;
const MULTIPLIER_MAX = 100;

/** Returns the schema of a bounded number or `auto`, with which the server chooses. */
function orAuto(
  name: string,
  { min, max, ...kind }: { min: number; max: number; isWhole?: true; aboveMin?: true },
) {
  const bounds = kind.aboveMin ? `above ${min}, up to ${max}` : `from ${min} to ${max}`;
  const message = `${name} must be 'auto' or a ${kind.isWhole ? 'whole ' : ''}number ${bounds}`;
  const number = kind.isWhole ? z.int(message) : z.number(message);
  const least = kind.aboveMin ? number.gt(min, message) : number.min(min, message);
  return z.union([z.literal('auto'), least.max(max, message)], message).nullish();
}

const { max: BATCH_MAX } = fineTuneNumbers.batch_size;
const { min: BETA_MIN, max: BETA_MAX } = fineTuneNumbers.beta;

const hyperparameters = z.object({
  n_epochs: orAuto('n_epochs', { min: 1, max: EPOCHS_MAX, isWhole: true }),
  batch_size: orAuto('batch_size', { min: 1, max: BATCH_MAX, isWhole: true }),
  learning_rate_multiplier: orAuto('learning_rate_multiplier', {
    min: 0,
    max: MULTIPLIER_MAX,
    aboveMin: true,
  }),
});
export const supervisedHyperparameters = hyperparameters.catchall(unknownParameter);
/** For DPO, and for KTO, which OpenAI does not have. */
export const dpoHyperparameters = hyperparameters
  .extend({ beta: orAuto('beta', { min: BETA_MIN, max: BETA_MAX }) })
  .catchall(unknownParameter);

/** Answers per prompt for a `compute_multiplier` of 1. */
export const ANSWERS_AUTO = fineTuneNumbers.generations.default;
const { min: ANSWERS_MIN, max: ANSWERS_MAX } = fineTuneNumbers.generations;
const [COMPUTE_MIN, COMPUTE_MAX] = [ANSWERS_MIN / ANSWERS_AUTO, ANSWERS_MAX / ANSWERS_AUTO];

/** For GRPO. */
const reinforced = hyperparameters
  .extend({
    compute_multiplier: orAuto('compute_multiplier', { min: COMPUTE_MIN, max: COMPUTE_MAX }).refine(
      (value) => typeof value !== 'number' || Number.isInteger(value * ANSWERS_AUTO),
      `compute_multiplier must be 'auto' or a multiple of ${1 / ANSWERS_AUTO}: at 1 the model writes ${ANSWERS_AUTO} answers to each prompt`,
    ),
    /** Steps between evaluations, in addition to those after each epoch. */
    eval_interval: orAuto('eval_interval', { min: 1, max: fineTuneNumbers.eval_steps.max, isWhole: true }),
    eval_samples: z
      .union(
        [z.literal('auto'), z.literal(1)],
        "eval_samples must be 'auto' or 1: each held-out prompt is answered once in an evaluation",
      )
      .nullish(),
    reasoning_effort: z
      .literal(
        'default',
        "reasoning_effort must be 'default' or left out: models here have no levels of reasoning effort",
      )
      .nullish(),
  })
  .catchall(unknownParameter);

const METHODS =
  "must be 'supervised', 'dpo', 'reinforcement' or 'kto': jobs train by supervised fine-tuning, direct preference optimization, group relative policy optimization or Kahneman-Tversky optimization with LoRA, and by no other method";

const ENTITY_LENGTH_MAX = 128;
const TAG_LENGTH_MAX = 64;
const TAGS_MAX = 20;

export const jobIntegration = z
  .object({
    type: z.literal('wandb', "type must be 'wandb': jobs are logged to Weights & Biases"),
    wandb: z
      .object({
        project: trackerProject,
        /** A team or user. Defaults to the key's owner. */
        entity: z
          .string()
          .max(ENTITY_LENGTH_MAX, `entity must have at most ${ENTITY_LENGTH_MAX} characters`)
          .regex(/^[\w.-]+$/, 'entity must have letters, digits, _, - and . alone')
          .nullish(),
        /** Defaults to the job's id. */
        name: z
          .string()
          .max(NAME_LENGTH_MAX, `name must have at most ${NAME_LENGTH_MAX} characters`)
          .nullish(),
        tags: z
          .array(
            z
              .string()
              .min(1, 'A tag must not be empty')
              .max(TAG_LENGTH_MAX, `A tag must have at most ${TAG_LENGTH_MAX} characters`),
          )
          .max(TAGS_MAX, `tags must be at most ${TAGS_MAX}`)
          .nullish(),
      })
      .catchall(unknownParameter),
  })
  .catchall(unknownParameter);

export type JobIntegration = z.output<typeof jobIntegration>;

const jobId = flatId('ftjob-', 'fine-tuning job');
const jobParams = z.object({ fine_tuning_job_id: jobId });

export const jobHyperparameters = z.object({
  ...{ n_epochs: z.int(), batch_size: z.int(), learning_rate_multiplier: z.number() },
});
export const jobDpoHyperparameters = jobHyperparameters.extend({ beta: z.number() });
export const jobReinforcementHyperparameters = jobHyperparameters.extend({
  compute_multiplier: z.number(),
  /** `auto` evaluates only after each epoch. */
  eval_interval: z.union([z.int(), z.literal('auto')]),
  eval_samples: z.literal(1),
  reasoning_effort: z.literal('default'),
});

export const fineTuningJob = z.object({
  id: z.string(),
  object: z.literal('fine_tuning.job'),
  created_at: z.int(),
  /** While it runs, if it can be estimated. */
  estimated_finish: z.int().nullable(),
  finished_at: z.int().nullable(),
  /** The base's name in OpenAI-style calls. */
  model: z.string(),
  /** The result's name in OpenAI-style calls, once it exists. */
  fine_tuned_model: z.string().nullable(),
  organization_id: z.string(),
  /** Has no validating state: creating a job validates its files and refuses what cannot be trained. */
  status: z.enum(['queued', 'running', 'succeeded', 'failed', 'cancelled']),
  error: z.object({ code: z.string(), message: z.string(), param: z.string().nullable() }).nullable(),
  training_file: z.string(),
  /** Null if one in ten rows of training_file is held out. */
  validation_file: z.string().nullable(),
  /** The metrics by step as CSV. */
  result_files: z.array(z.string()),
  trained_tokens: z.int().nullable(),
  hyperparameters: jobHyperparameters,
  /** Missing for older runs that trained a reward model. */
  method: z
    .discriminatedUnion('type', [
      z.object({
        type: z.literal('supervised'),
        supervised: z.object({ hyperparameters: jobHyperparameters }),
      }),
      z.object({ type: z.literal('dpo'), dpo: z.object({ hyperparameters: jobDpoHyperparameters }) }),
      z.object({ type: z.literal('kto'), kto: z.object({ hyperparameters: jobDpoHyperparameters }) }),
      z.object({
        type: z.literal('reinforcement'),
        reinforcement: z.object({
          grader,
          response_format: answerFormat.nullable(),
          hyperparameters: jobReinforcementHyperparameters,
        }),
      }),
      /** A run with `rewards` that OpenAI's graders cannot express. */
      z.object({ type: z.literal('grpo'), grpo: z.object({ hyperparameters: jobDpoHyperparameters }) }),
    ])
    .optional(),
  seed: z.int(),
  user_provided_suffix: z.string().nullable(),
  metadata: z.record(z.string(), z.string()).nullable(),
  integrations: z.array(jobIntegration),
  /** The run and the resulting model in the calls under /api/v1. */
  run_id: z.string(),
  model_id: z.string(),
  /** In BGL: the quote, the maximum charge and the current cost. */
  quote: bgl,
  ceiling: bgl,
  cost_so_far: bgl,
});

export type FineTuningJob = z.infer<typeof fineTuningJob>;

export const createFineTuningJob = endpoint({
  method: 'POST',
  path: '/v1/fine_tuning/jobs',
  access: 'key',
  spends: true,
  summary: 'Create a fine-tuning job (OpenAI-compatible)',
  body: z
    .object({
      /** A text starter model, the caller's own model by name, title or id, or a clone by its hub name. */
      model: modelName,
      training_file: fileId,
      /**
       * Held-out rows; then all of training_file is trained on. Defaults to holding out one in ten rows of
       * training_file.
       */
      validation_file: fileId.nullish(),
      /** Maximum cost in BGL. Defaults to 1.5 times the quote, at which the job is not stopped. */
      ceiling: positiveBgl('ceiling').nullish(),
      suffix: z
        .string()
        .trim()
        .max(SUFFIX_LENGTH_MAX, `suffix must have at most ${SUFFIX_LENGTH_MAX} characters`)
        .nullish(),
      hyperparameters: supervisedHyperparameters.nullish(),
      /** Defaults to `supervised`. */
      method: z
        .object({
          type: z.enum(['supervised', 'dpo', 'reinforcement', 'kto'], `method.type ${METHODS}`),
          supervised: z.object({ hyperparameters: supervisedHyperparameters.nullish() }).nullish(),
          dpo: z.object({ hyperparameters: dpoHyperparameters.nullish() }).nullish(),
          reinforcement: z
            .object({
              grader,
              response_format: answerFormat.nullish(),
              hyperparameters: reinforced.nullish(),
            })
            .catchall(unknownParameter)
            .nullish(),
          kto: z.object({ hyperparameters: dpoHyperparameters.nullish() }).nullish(),
        })
        .catchall(unknownParameter)
        .nullish(),
      seed: z
        .int()
        .min(0)
        .max(2 ** 31 - 1)
        .nullish(),
      metadata: metadata.nullish(),
      /** Additional logging to Weights & Biases, with the owner's key from Experiment tracking. */
      integrations: z
        .array(jobIntegration)
        .max(1, 'integrations must be at most 1: a job is logged to one project')
        .nullish(),
    })
    .catchall(unknownParameter),
  response: fineTuningJob,
});

const page = { limit: z.coerce.number().int().min(1).max(100).default(20) };

export const listFineTuningJobs = endpoint({
  method: 'GET',
  path: '/v1/fine_tuning/jobs',
  access: 'key',
  summary: 'List fine-tuning jobs, newest first (OpenAI-compatible)',
  query: only({ ...page, after: jobId.optional() }),
  response: z.object({ object: z.literal('list'), data: z.array(fineTuningJob), has_more: z.boolean() }),
});

export const getFineTuningJob = endpoint({
  method: 'GET',
  path: '/v1/fine_tuning/jobs/:fine_tuning_job_id',
  access: 'key',
  summary: 'Get a fine-tuning job (OpenAI-compatible)',
  params: jobParams,
  response: fineTuningJob,
});

export const cancelFineTuningJob = endpoint({
  method: 'POST',
  path: '/v1/fine_tuning/jobs/:fine_tuning_job_id/cancel',
  access: 'key',
  summary: 'Cancel a fine-tuning job: its work is saved (OpenAI-compatible)',
  params: jobParams,
  response: fineTuningJob,
});

export const resumeFineTuningJob = endpoint({
  method: 'POST',
  path: '/v1/fine_tuning/jobs/:fine_tuning_job_id/resume',
  access: 'key',
  spends: true,
  summary: 'Resume a cancelled or failed fine-tuning job (OpenAI-compatible)',
  params: jobParams,
  response: fineTuningJob,
});

export const fineTuningEvent = z.object({
  id: z.string(),
  object: z.literal('fine_tuning.job.event'),
  created_at: z.int(),
  level: z.enum(['info', 'warn', 'error']),
  type: z.enum(['message', 'metrics']),
  message: z.string(),
  data: z.record(z.string(), z.number()).nullable(),
});

export type FineTuningEvent = z.infer<typeof fineTuningEvent>;

export const listFineTuningEvents = endpoint({
  method: 'GET',
  path: '/v1/fine_tuning/jobs/:fine_tuning_job_id/events',
  access: 'key',
  summary: "List a fine-tuning job's events, newest first (OpenAI-compatible)",
  params: jobParams,
  query: only({ ...page, after: z.string().max(100).optional() }),
  response: z.object({ object: z.literal('list'), data: z.array(fineTuningEvent), has_more: z.boolean() }),
});

export const fineTuningCheckpoint = z.object({
  id: z.string(),
  object: z.literal('fine_tuning.job.checkpoint'),
  created_at: z.int(),
  fine_tuned_model_checkpoint: z.string(),
  fine_tuning_job_id: z.string(),
  step_number: z.int(),
  metrics: z.record(z.string(), z.number()),
});

export const listFineTuningCheckpoints = endpoint({
  method: 'GET',
  path: '/v1/fine_tuning/jobs/:fine_tuning_job_id/checkpoints',
  access: 'key',
  summary: 'Get the best checkpoint of a fine-tuning job; no other is kept (OpenAI-compatible)',
  params: jobParams,
  query: only({ ...page, after: z.string().max(100).optional() }),
  response: z.object({
    object: z.literal('list'),
    data: z.array(fineTuningCheckpoint),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
    has_more: z.boolean(),
  }),
});
