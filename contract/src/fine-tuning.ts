import * as z from 'zod';
import { userId } from './accounts.ts';
import { quote } from './credits.ts';
import { endpoint } from './endpoint.ts';
import { boundedBy, numberOf } from './fields/bounded-number.ts';
import { countOfGpus } from './fields/count-of-gpus.ts';
import { HUB_MODEL_ID_LENGTH_MAX, hubModelId } from './fields/hub-model-id.ts';
import { idOf } from './fields/id.ts';
import { only } from './fields/only.ts';
import {
  ALL_LINEAR,
  adaptations,
  defaultTargetModules,
  fineTuneDefaults,
  fineTuneNumbers,
  lrSchedulers,
  optimizers,
  PATTERN_LENGTH_MAX,
  REWARDS_MAX,
  rewardWeight,
  segmentationMethods,
} from './fine-tune-numbers.ts';
import { dataFormats, gpuTypes, matchComparisons, objectives, stringChecks } from './limits.ts';
import { bgl, bglInput, positiveBgl } from './money.ts';
import { validateReport } from './runtime/train-spec.ts';

const targetModules = z
  .array(z.string().regex(/^[\w.-]{1,200}$/, 'A target module must be a name like q_proj, or all-linear'))
  .min(1, 'Select at least one target module')
  .max(64, 'Select at most 64 target modules')
  .refine(
    (modules) => modules.length === 1 || !modules.includes(ALL_LINEAR),
    'all-linear includes all other modules: leave them out',
  );

const weight = numberOf(rewardWeight);

/**
 * A rule that adds its weight for a matching answer. `pattern` is a regular expression in the syntax of JSON
 * Schema, without look-around and back-references, that occurs in the answer; `match` compares the answer
 * with its row's reference, as text or by the last number in each; `string_check` compares the trimmed answer
 * with a text, or by default with the reference: equals (`eq`), differs (`ne`), contains (`like`), or
 * contains case-insensitively (`ilike`); `json_schema` requires the whole answer to be valid JSON for the
 * schema.
 */
export const reward = z.discriminatedUnion('type', [
  only({
    type: z.literal('pattern'),
    pattern: z
      .string()
      .min(1, 'A pattern is required')
      .max(PATTERN_LENGTH_MAX, `A pattern must have at most ${PATTERN_LENGTH_MAX} characters`),
    weight,
  }),
  only({ type: z.literal('match'), compare: z.enum(matchComparisons).default('text'), weight }),
  only({
    type: z.literal('string_check'),
    operation: z.enum(stringChecks),
    reference: z
      .string()
      .min(1, 'A text to compare with is required')
      .max(PATTERN_LENGTH_MAX, `A text to compare with must have at most ${PATTERN_LENGTH_MAX} characters`)
      .optional(),
    weight,
  }),
  only({ type: z.literal('json_schema'), json_schema: z.record(z.string(), z.unknown()), weight }),
]);

/** Fields shared by training and its validation, with bounds and messages. */
const trainingFields = {
  epochs: numberOf(fineTuneNumbers.epochs),
  learning_rate: numberOf(fineTuneNumbers.learning_rate),
  /** Learning rate after the warm-up: decays to 0 as half a cosine or linearly, or stays constant. */
  lr_scheduler: z.enum(lrSchedulers).default(fineTuneDefaults.lr_scheduler),
  /** `adamw_8bit` stores the moments of a weight in 2 bytes instead of 8. It needs a GPU. */
  optimizer: z.enum(optimizers).default(fineTuneDefaults.optimizer),
  /** Share of the steps in which the learning rate rises from 0. */
  warmup_ratio: numberOf(fineTuneNumbers.warmup_ratio),
  weight_decay: numberOf(fineTuneNumbers.weight_decay),
  /** Gradients are clipped to this norm; 0 disables clipping. */
  max_grad_norm: numberOf(fineTuneNumbers.max_grad_norm),
  /** For `sft`: noise on the training embeddings (NEFTune); 0 for none. */
  neftune_noise_alpha: numberOf(fineTuneNumbers.neftune_noise_alpha),
  /**
   * Training objective. Defaults to `dpo` for rows in the format `preference`, `kto` for `feedback`, `grpo`
   * for `prompts`, and else `sft`.
   */
  objective: z.enum(objectives).optional(),
  /** For `dpo`, `kto` and `grpo`: how strongly the model is tied to its base. */
  beta: numberOf(fineTuneNumbers.beta),
  /** For `dpo`. */
  sft_weight: numberOf(fineTuneNumbers.sft_weight),
  /** For `kto`: weight of the loss of good and of bad answers. */
  desirable_weight: numberOf(fineTuneNumbers.desirable_weight),
  undesirable_weight: numberOf(fineTuneNumbers.undesirable_weight),
  /** For `grpo`: answers per prompt, maximum tokens of each, and temperature. */
  generations: numberOf(fineTuneNumbers.generations),
  max_new_tokens: numberOf(fineTuneNumbers.max_new_tokens),
  temperature: numberOf(fineTuneNumbers.temperature),
  /** For `grpo`, at least one: an answer earns the weights of all rules that it matches. */
  rewards: z
    .array(reward)
    .max(REWARDS_MAX, `rewards must be at most ${REWARDS_MAX}`)
    .default(() => []),
  /**
   * Trained weights: `lora` makes an adapter; `qlora` does too, with the base in 4 bits during training, only
   * on a GPU; `full` trains all weights and makes a whole model.
   */
  adaptation: z.enum(adaptations).default(fineTuneDefaults.adaptation),
  /** Steps between evaluations in addition to those after each epoch; 0 for none. */
  eval_steps: numberOf(fineTuneNumbers.eval_steps),
  /**
   * Ends the run after this many evaluations without a lower held-out loss and selects the best one. Only the
   * time until then is charged. 0 completes all epochs.
   */
  early_stopping_patience: numberOf(fineTuneNumbers.early_stopping_patience),
  /** Defaults to question and answer if their columns are set, else detected from the file. */
  data_format: z.enum(dataFormats).nullish(),
  /**
   * For `prompt_completion`, `preference`, `feedback` and `prompts`; for `text`, `messages` and `sharegpt`
   * the input column contains everything. For prompts the output column contains the optional reference for
   * answers. For preferences it contains the better answers. Preferences and feedback have no input column if
   * the answers are whole conversations.
   */
  input_column: z.string().nullish(),
  output_column: z.string().nullish(),
  /** Only for `preference`: the worse answers. Without any columns, default names are used. */
  rejected_column: z.string().nullish(),
  /** Only for `feedback`: whether the answer is good (true, 1, up) or bad (false, 0, down). */
  label_column: z.string().nullish(),
  /**
   * Column with a system prompt for each row's conversation. Defaults to the column with the default name, if
   * any; empty for none.
   */
  system_column: z.string().nullish(),
  segmentation_method: z.enum(segmentationMethods).default(fineTuneDefaults.segmentation_method),
  batch_size: numberOf(fineTuneNumbers.batch_size),
  eval_batch_size: numberOf(fineTuneNumbers.eval_batch_size),
  gradient_accumulation_steps: numberOf(fineTuneNumbers.gradient_accumulation_steps),
  /**
   * For `sft`: short rows share a sequence of up to `max_chunk_size` tokens without attending to each other.
   * Then a batch counts sequences.
   */
  packing: z.boolean('packing must be true or false').default(fineTuneDefaults.packing),
  max_chunk_size: numberOf(fineTuneNumbers.max_chunk_size),
  stride: numberOf(fineTuneNumbers.stride),
  min_segment_length: numberOf(fineTuneNumbers.min_segment_length),
  train_test_split: numberOf(fineTuneNumbers.train_test_split),
  /** Seed for the split, the row order and adapter initialization. Defaults to 42. */
  seed: boundedBy({ label: 'Seed', min: 0, max: 2 ** 31 - 1, step: 1 }).optional(),
  /** This and the next five apply only to `lora` and `qlora`. Defaults to 8. */
  lora_r: boundedBy(fineTuneNumbers.lora_r).optional(),
  /** Defaults to twice the rank, with rsLoRA to 16. */
  lora_alpha: boundedBy({ label: 'LoRA alpha', min: 0, aboveMin: true, max: 1024, step: 0.5 }).optional(),
  /** Defaults to 0.05. */
  lora_dropout: boundedBy(fineTuneNumbers.lora_dropout).optional(),
  /**
   * Rank-stabilized: scales the adapter by alpha / √rank instead of alpha / rank, so that high ranks learn as
   * fast as low ones. Defaults to false.
   */
  use_rslora: z.boolean('use_rslora must be true or false').optional(),
  /**
   * Only for `lora`. Trains the magnitude of each matrix row separately from its direction (DoRA). The result
   * is a whole model with the adapter merged. Defaults to false.
   */
  use_dora: z.boolean('use_dora must be true or false').optional(),
  /**
   * Names of linear modules, or `["all-linear"]` for all linear modules of the layers. Defaults to the eight
   * usual names; with `qlora` or an objective other than SFT to all but `lm_head`.
   */
  lora_target_modules: targetModules.optional(),
};

/** Maximum slowdown of an estimate; beyond it estimates are meaningless. */
export const SLOWDOWN_MAX = 20;

/**
 * Maximum cost of a run in BGL. A run that needs more continues for as much again at no cost, then saves its
 * work and stops; with a ceiling below its quote it stops there, unless all steps are done.
 */
export const ceiling = positiveBgl('Spending limit');

/** The cost shown to the user, and its limit. */
export const agreedCost = {
  /**
   * Defaults to 1.5 times the quote, rounded up. Then the run is not stopped there but finishes; after four
   * times the estimated time it saves its work, stops and costs the quote.
   */
  ceiling: ceiling.optional(),
  /** The quoted total in BGL: if the price is higher now, the call is refused with the new price. */
  cost_max: bglInput.optional(),
  /**
   * The `slowdown` of the shown estimate, for which credits are held. Defaults to the current one. Only the
   * time used is charged.
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
  /** Asset id of the base model; with `hf_model_id` only a name. */
  base_model: z.string().min(1, 'No model has this id').max(HUB_MODEL_ID_LENGTH_MAX, 'No model has this id'),
  /** The base model's name on the public hub. If the caller has no clone of it, the run clones it first. */
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

export type Reward = z.output<typeof reward>;

export type FineTunePayload = z.output<typeof fineTunePayload>;

/**
 * The stored payload with defaults filled in. Older runs also trained reward models or learned from their
 * scores.
 */
export const storedPayload = z.object({
  ...fineTunePayload.shape,
  objective: z.enum([...objectives, 'reward']).default('sft'),
  rewards: z
    .array(
      z.union([reward, z.object({ type: z.literal('model'), model_id: z.string(), weight: z.number() })]),
    )
    .default(() => []),
  /** Empty if all weights are trained. */
  lora_target_modules: z.array(z.string()).default(defaultTargetModules('sft')),
});

export const startedRun = z.object({ run_id: z.string(), model_id: z.string() });
/** A long data file that is read in the background to validate a run. */
export const dataReading = z.object({
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

/** Estimated time and cost of a run. */
export const costEstimate = z.object({
  usd_cost: z.string(),
  duration_hours: z.number(),
  token_cost: z.string(),
  quote,
  /** Maximum cost without a chosen `ceiling`: 1.5 times the quote, rounded up. */
  ceiling: bgl,
  /** The current load in the estimate: how many times longer than on an idle machine. */
  slowdown: z.number(),
  /** The load in words; null if it does not matter, as on a GPU. */
  load: z.string().nullable(),
});

/**
 * The device for the run: the chosen GPU, else another one of this machine that is large enough, else its
 * CPU.
 */
export const runPlacement = z.object({
  device: z.enum(['gpu', 'cpu']),
  /** The GPU that the run goes to, which may differ from the requested one; null for the CPU. */
  gpu_type: z.string().nullable(),
  description: z.string(),
});

/** Data, time and cost of a run, and what prevents it. */
export const fineTuneValidation = z.object({
  critical_errors: z.array(z.string()),
  warnings: z.array(z.string()),
  cost_estimate: costEstimate,
  recommendations: z.object({
    /** Cheapest first; `cost` is the run's cost there. */
    recommended_gpus: z.array(z.object({ gpu_type: z.enum(gpuTypes), description: z.string(), cost: bgl })),
  }),
  placement: runPlacement,
  /**
   * Null if every row was counted. Otherwise the long file is still being read in the background, and costs
   * and counts are estimated from its first rows; repeat the call for the full result.
   */
  reading: dataReading.nullable(),
  /** The report; `memory_bytes` applies to the chosen device. */
  data: validateReport
    .omit({
      ...{ critical_errors: true, warnings: true, gguf_obstacle: true },
      ...{ train_padded_tokens: true, eval_padded_tokens: true, reward_errors: true, target_errors: true },
    })
    .nullable(),
});

export const validateFineTune = endpoint({
  method: 'POST',
  path: '/api/v1/fine-tune/validate',
  access: 'key',
  operation: 'validate parameters',
  summary: 'Validate a fine-tune: its data, cost and warnings',
  body: only({
    dataset_id: idOf('dataset'),
    file_name: z.string().min(1),
    /** Asset id of the base model, or its name on the public hub. */
    model_id: z.union([idOf('model'), hubModelId], 'No model has this id'),
    gpu_type: z
      .enum(gpuTypes, 'Please select a GPU configuration')
      .default(fineTuneDefaults.accelerator_type),
    accelerator_count: countOfGpus.default(fineTuneDefaults.accelerator_count),
    ...trainingFields,
  }),
  response: fineTuneValidation,
});

export type FineTuneValidation = z.output<typeof fineTuneValidation>;

export const cancelReading = endpoint({
  method: 'POST',
  path: '/api/v1/fine-tune/readings/:readingId/cancel',
  access: 'key',
  summary: 'Cancel the reading of a data file',
  params: z.object({ readingId: idOf('reading') }),
  response: dataReading,
});
