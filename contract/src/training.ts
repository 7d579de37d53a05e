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
  adaptations,
  fineTuneDefaults,
  fineTuneNumbers,
  loraTargetModules,
  lrSchedulers,
  PATTERN_LENGTH_MAX,
  REWARDS_MAX,
  rewardWeight,
  segmentationMethods,
  usualTargetModules,
} from './fine-tune-numbers.ts';
import { dataFormats, gpuTypes, matchComparisons, objectives, stringChecks } from './limits.ts';
import { bgl, bglInput, positiveBgl } from './money.ts';
import { validateReport } from './runtime/train-spec.ts';

const targetModules = z
  .array(z.enum(loraTargetModules))
  .min(1, 'Select at least one target module')
  .max(loraTargetModules.length, 'Select each target module once');

const weight = numberOf(rewardWeight);

/**
 * A rule that pays an answer its weight, or nothing. `pattern` is a regular expression in the syntax of JSON Schema, without look-around
 * and back-references, that is found somewhere in the answer; `match` is an answer that equals the reference of its row, as a text or by
 * the last number in each; `string_check` compares it, without white space around it, with a text or, where none is named, with the
 * reference: it is that (`eq`), is not (`ne`), contains it (`like`), or contains it in any case (`ilike`); `json_schema` is an answer
 * that is JSON as a whole, and as the schema says.
 */
const reward = z.discriminatedUnion('type', [
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

/** The fields that training and its validation share, with their bounds and messages. */
const trainingFields = {
  epochs: numberOf(fineTuneNumbers.epochs),
  learning_rate: numberOf(fineTuneNumbers.learning_rate),
  /** How the learning rate goes on after the warm-up: down to 0 as half a cosine or in a line, or not at all. */
  lr_scheduler: z.enum(lrSchedulers).default(fineTuneDefaults.lr_scheduler),
  /** Share of the steps in which the learning rate rises from 0. */
  warmup_ratio: numberOf(fineTuneNumbers.warmup_ratio),
  weight_decay: numberOf(fineTuneNumbers.weight_decay),
  /** Longer gradients are shortened to it; 0: none is. */
  max_grad_norm: numberOf(fineTuneNumbers.max_grad_norm),
  /** Noise on the embeddings of what is trained on (NEFTune), of `sft` alone; 0: none. */
  neftune_noise_alpha: numberOf(fineTuneNumbers.neftune_noise_alpha),
  /**
   * What is minimised. Left out: `dpo` of rows in the format `preference`, `kto` of those in `feedback`, `grpo` of those in `prompts`,
   * else `sft`.
   */
  objective: z.enum(objectives).optional(),
  /** Of `dpo`, `kto` and `grpo`: how strongly the model is held to its base. */
  beta: numberOf(fineTuneNumbers.beta),
  /** Of `dpo`. */
  sft_weight: numberOf(fineTuneNumbers.sft_weight),
  /** Of `kto`: how much the loss of a good answer counts, and of a bad one. */
  desirable_weight: numberOf(fineTuneNumbers.desirable_weight),
  undesirable_weight: numberOf(fineTuneNumbers.undesirable_weight),
  /** Of `grpo`: how many answers are written to each prompt, of at most how many tokens, and at what temperature. */
  generations: numberOf(fineTuneNumbers.generations),
  max_new_tokens: numberOf(fineTuneNumbers.max_new_tokens),
  temperature: numberOf(fineTuneNumbers.temperature),
  /** Of `grpo`, at least one: an answer is paid the weight of each that it meets. */
  rewards: z
    .array(reward)
    .max(REWARDS_MAX, `rewards must be at most ${REWARDS_MAX}`)
    .default(() => []),
  /**
   * What of the base model is trained: `lora` makes an adapter for it, and so does `qlora`, with the base in 4 bits while it trains, on a
   * GPU alone; `full` trains all its weights and makes a whole model.
   */
  adaptation: z.enum(adaptations).default(fineTuneDefaults.adaptation),
  /** Evaluates after each so many steps as well as after each epoch; 0: after each epoch alone. */
  eval_steps: numberOf(fineTuneNumbers.eval_steps),
  /**
   * Ends the run once the held-out loss has not fallen below its lowest in so many evaluations, and keeps what had the lowest. What is
   * charged is the time until then. 0: it goes through all epochs.
   */
  early_stopping_patience: numberOf(fineTuneNumbers.early_stopping_patience),
  /** Left out: question and answer where their columns are named, else what the file is recognised as. */
  data_format: z.enum(dataFormats).nullish(),
  /**
   * Of `prompt_completion`, `preference`, `feedback` and `prompts`; of `text`, `messages` and `sharegpt` the input column holds
   * everything. Of prompts the output column has what answers are compared with, and may be left out. Of
   * preferences the output column has the better answers. Of these and of feedback there is no input column where the answers are
   * whole conversations.
   */
  input_column: z.string().nullish(),
  output_column: z.string().nullish(),
  /** Of `preference` alone: the worse answers. Its columns left out: those that are called so. */
  rejected_column: z.string().nullish(),
  /** Of `feedback` alone: whether the answer is good (true, 1, up) or bad (false, 0, down). */
  label_column: z.string().nullish(),
  /**
   * A column with a system prompt for each row's conversation. Left out: the one that is called so, if
   * there is one; empty: none.
   */
  system_column: z.string().nullish(),
  segmentation_method: z.enum(segmentationMethods).default(fineTuneDefaults.segmentation_method),
  batch_size: numberOf(fineTuneNumbers.batch_size),
  eval_batch_size: numberOf(fineTuneNumbers.eval_batch_size),
  gradient_accumulation_steps: numberOf(fineTuneNumbers.gradient_accumulation_steps),
  /** Short rows share a sequence of up to `max_chunk_size` tokens, and none reads another; of `sft` alone. A batch counts sequences then. */
  packing: z.boolean('packing must be true or false').default(fineTuneDefaults.packing),
  max_chunk_size: numberOf(fineTuneNumbers.max_chunk_size),
  stride: numberOf(fineTuneNumbers.stride),
  min_segment_length: numberOf(fineTuneNumbers.min_segment_length),
  train_test_split: numberOf(fineTuneNumbers.train_test_split),
  /** Of the split, of the order of the rows and of the adapter's first weights. Left out: 42. */
  seed: boundedBy({ label: 'Seed', min: 0, max: 2 ** 31 - 1, step: 1 }).optional(),
  /** This and the next five are of `lora` and `qlora` alone. Left out: 8. */
  lora_r: boundedBy(fineTuneNumbers.lora_r).optional(),
  /** Left out: twice the rank, with rsLoRA 16. */
  lora_alpha: boundedBy({ label: 'LoRA alpha', min: 0, aboveMin: true, max: 1024, step: 0.5 }).optional(),
  /** Left out: 0.05. */
  lora_dropout: boundedBy(fineTuneNumbers.lora_dropout).optional(),
  /** Rank-stabilised: the adapter is scaled by alpha / √rank instead of alpha / rank, so that a high rank learns as fast as a low one. Left out: false. */
  use_rslora: z.boolean('use_rslora must be true or false').optional(),
  /**
   * Of `lora` alone. Trains the magnitude of each row of a matrix apart from its direction (DoRA). The adapter is merged into the base, and
   * the result is a whole model with the adapter in it. Left out: false.
   */
  use_dora: z.boolean('use_dora must be true or false').optional(),
  /** Left out: all of them; with `qlora`, and with another objective than SFT, all but `lm_head`. */
  lora_target_modules: targetModules.optional(),
};

/** A load that would slow a run down more than this is estimated no worse: nobody could tell. */
export const SLOWDOWN_MAX = 20;

/**
 * The most that a run may cost, in BGL. A run that needs more continues for as much again at no cost, then saves its work and stops;
 * with a ceiling below its quote it stops there, unless all steps are done.
 */
export const ceiling = positiveBgl('Ceiling');

/** What a person has seen of the cost, and how far it may go. */
export const agreedCost = {
  /**
   * Left out: 1.5 times the quote, rounded up. The run is not stopped there but finishes; after four times the estimated time it
   * saves its work, stops and costs the quote.
   */
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
  /** Name on the public hub of the base model. If the caller has no clone of it, the run clones it first. */
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

/** As it was stored, with what was left out. Older runs also trained reward models, and learned from their scores. */
export const storedPayload = z.object({
  ...fineTunePayload.shape,
  objective: z.enum([...objectives, 'reward']).default('sft'),
  rewards: z
    .array(
      z.union([reward, z.object({ type: z.literal('model'), model_id: z.string(), weight: z.number() })]),
    )
    .default(() => []),
  /** None where all weights are trained. */
  lora_target_modules: z.array(z.enum(loraTargetModules)).default(usualTargetModules('sft')),
});

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
  /** The most that the run costs without a `ceiling` of the user: 1.5 times the quote, rounded up. */
  ceiling: bgl,
  /** The present load that this was estimated for: how many times longer than on an idle machine. */
  slowdown: z.number(),
  /** The same in words; null where the load does not matter, as on a GPU. */
  load: z.string().nullable(),
});

/** Where it will run: the chosen GPU, else another one of this machine that is large enough, else its CPU. */
export const runPlacement = z.object({ device: z.enum(['gpu', 'cpu']), description: z.string() });

/** What a run would read, take and cost, and what stands in its way. */
const fineTuneValidation = z.object({
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
      ...{ train_padded_tokens: true, eval_padded_tokens: true, reward_errors: true },
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
