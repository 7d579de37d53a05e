import * as z from 'zod';
import { lrSchedulers, optimizers } from '../fine-tune-numbers.ts';
import { dataFormats, matchComparisons, objectives, stringChecks } from '../limits.ts';
import { workloadSpecBase } from './workload-spec.ts';

export const formatName = z.enum(dataFormats);

export const objective = z.enum(objectives);

/** How rows become training examples, in validation and training. Older runs lack fields with a default. */
export const dataSpec = z.object({
  /** Path inside the `dataset` input. Its extension selects the reader: csv, jsonl, json, txt, parquet. */
  file_path: z.string().min(1),
  /**
   * Null, as in runs from before this field existed: question and answer if both columns are set, else
   * detected from the file. Text files (.txt) have no format and no columns.
   */
  format: formatName.nullable().default(null),
  /**
   * Columns with question and answer. For `messages`, `sharegpt` and `text` the first contains everything;
   * for `prompts` the second contains the reference for answers, if any.
   */
  input_column: z.string().nullable(),
  output_column: z.string().nullable(),
  /** For `preference`: the column with the worse answer; `output_column` has the better one. */
  rejected_column: z.string().nullable().default(null),
  /** For `feedback`: the column that rates the answer in `output_column` as good or bad. */
  label_column: z.string().nullable().default(null),
  /** Column with a system prompt for the conversation of each row. */
  system_column: z.string().nullable().default(null),
  segmentation_method: z.enum(['regex', 'tokenizer', 'spacy', 'nltk']),
  /**
   * Maximum example length in tokens; longer ones are cut into overlapping windows (text) or truncated
   * (conversations).
   */
  max_chunk_size: z.int().min(1),
  /** Tokens shared by neighbouring windows. */
  stride: z.int().min(1),
  /** Text segments with fewer tokens are dropped. */
  min_segment_length: z.int().min(1),
  /** Path inside the `validation` input of a separate held-out file; all rows of `file_path` are trained on. */
  validation_path: z.string().min(1).nullable().default(null),
  /** Share of rows to train on without a validation file; the rest is held out. */
  train_test_split: z.number().min(0.1).max(0.95),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  /** Day of the request, for chat templates, so that a resumed run reads the same tokens. Null for today. */
  date: z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/)
    .nullable()
    .default(null),
});

export const loraSpec = z.object({
  r: z.int().min(1).max(256),
  alpha: z.number().positive(),
  dropout: z.number().min(0).max(0.5),
  target_modules: z.array(z.string()).min(1),
});

/** With settings that only language models have. */
export const textLoraSpec = loraSpec.extend({
  /** Scales by alpha / √r instead of alpha / r. */
  use_rslora: z.boolean().default(false),
  /** Weight-decomposed; the result is the base with the adapter merged. */
  use_dora: z.boolean().default(false),
});

/**
 * A rule that adds its weight for a matching answer. A pattern is a regular expression that occurs in the
 * answer; a match compares the answer with the row's reference, as text with collapsed white space or by the
 * last number in each; a string check compares it with a text, or with the row's reference if null; a JSON
 * Schema is given as JSON, and the whole answer must be valid JSON for it.
 */
export const reward = z.discriminatedUnion('type', [
  z.object({ type: z.literal('pattern'), pattern: z.string().min(1), weight: z.number() }),
  z.object({ type: z.literal('match'), compare: z.enum(matchComparisons), weight: z.number() }),
  z.object({
    type: z.literal('string_check'),
    operation: z.enum(stringChecks),
    reference: z.string().min(1).nullable().default(null),
    weight: z.number(),
  }),
  z.object({ type: z.literal('json_schema'), json_schema: z.string(), weight: z.number() }),
]);

export const trainingParameters = z.object({
  /**
   * Training objective. `dpo` needs rows in the format `preference`, `kto` in `feedback` and `grpo` in
   * `prompts`; `sft` trains on the better or good answers of the first two, but cannot use prompts.
   */
  objective: objective.default('sft'),
  /** For DPO, KTO and GRPO: how strongly the model is tied to its base. */
  beta: z.number().positive().default(0.1),
  /** For DPO: weight of the added SFT loss on the better answers. */
  sft_weight: z.number().min(0).default(0),
  /** For KTO: weight of the loss of good and of bad answers. */
  desirable_weight: z.number().positive().default(1),
  undesirable_weight: z.number().positive().default(1),
  /** For GRPO: answers per prompt, maximum tokens of each, and temperature. */
  generations: z.int().min(2).default(8),
  max_new_tokens: z.int().min(1).default(128),
  temperature: z.number().positive().default(1),
  /** For GRPO: an answer's reward is the sum of these. */
  rewards: z.array(reward).default([]),
  epochs: z.int().min(1),
  learning_rate: z.number().positive(),
  lr_scheduler: z.enum(lrSchedulers).default('cosine'),
  optimizer: z.enum(optimizers).default('adamw'),
  /** Share of the steps, rounded down. */
  warmup_ratio: z.number().min(0).max(0.5).default(0.03),
  weight_decay: z.number().min(0).default(0),
  /** 0 disables clipping. */
  max_grad_norm: z.number().min(0).default(1),
  /** For SFT; 0 for no noise. */
  neftune_noise_alpha: z.number().min(0).default(0),
  /** Steps between evaluations in addition to those after each epoch; 0 for none. */
  eval_steps: z.int().min(0).default(0),
  /** Evaluations without improvement after which the run ends; 0 disables it. */
  early_stopping_patience: z.int().min(0).default(0),
  batch_size: z.int().min(1),
  eval_batch_size: z.int().min(1),
  /** For SFT: short examples share a sequence. A batch then counts sequences. */
  packing: z.boolean().default(false),
  gradient_accumulation_steps: z.int().min(1),
  /** Loads the base's linear layers in NF4 for adapter training. */
  load_in_4bit: z.boolean().default(false),
  /** Null to train all weights of the base, which results in a whole model. */
  lora: textLoraSpec.nullable(),
});

/** Hub names of a run's sources, for its card. A repository is `namespace/name`. */
export const trainingSources = z.object({
  /** On the public hub if it is a clone from there; null if it is not public. */
  base_model: z.string().nullable(),
  /** 40 hexadecimal digits; null if it was changed after cloning. */
  base_model_commit: z.string().nullable(),
  dataset: z.string().nullable(),
  dataset_commit: z.string().nullable(),
  /** Licence in the base model's card. */
  license: z.string().nullable(),
  license_name: z.string().nullable(),
  license_link: z.string().nullable(),
});

export type TrainingSources = z.infer<typeof trainingSources>;

/**
 * Input folders: `base_model` (safetensors and tokenizer), `dataset`, `validation` if the data has a
 * validation file, and two for each reward model among the rewards. If the result is a whole model, also
 * `base_gguf` with the base as one GGUF, if it has one: the result gets a GGUF in the same layout.
 */
export const trainTextSpec = workloadSpecBase.extend({
  kind: z.literal('train'),
  method: z.literal('lora'),
  title: z.string(),
  base_model_title: z.string(),
  dataset_title: z.string(),
  /** Null in runs from before this field existed. */
  sources: trainingSources.nullable().default(null),
  data: dataSpec,
  parameters: trainingParameters,
  device: z.enum(['auto', 'cpu', 'cuda', 'mps']),
  /** GPUs that train together, one process each; 1 in runs from before this field existed. */
  gpus: z.int().min(1).default(1),
});

export type TrainTextSpec = z.infer<typeof trainTextSpec>;

/** Input of `validate`: reads the file as training would, without a server and without torch. */
export const validateSpec = z.object({
  /** Local folder of the base model, for its tokenizer, chat template and config.json. */
  base_model_dir: z.string(),
  /** Local path of the data file; the extension of `data.file_path` selects the reader. */
  data_file: z.string(),
  /** Local path of the validation file, named in `data.validation_path`. */
  validation_file: z.string().nullable().default(null),
  data: dataSpec,
  parameters: trainingParameters,
});

export const droppedRow = z.object({
  /** 1-based line in the file where the row starts (parquet: row number). */
  line: z.int(),
  reason: z.string(),
});

/** One turn of a conversation. */
export const turn = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** Whether any of it is trained on; false for context, and for what the chunk size cuts off. */
  learnt: z.boolean(),
});

export const samplePart = z.object({ text: z.string(), learnt: z.boolean() });

export const sample = z.object({
  turns: z.array(turn),
  parts: z.array(samplePart),
  tokens: z.int(),
});

/** A format with its columns; alpaca has fixed names. */
export const dataFormat = z.object({
  format: formatName,
  input_column: z.string(),
  output_column: z.string(),
  /** Only for `preference`. */
  rejected_column: z.string().nullable().default(null),
  /** Only for `feedback`. */
  label_column: z.string().nullable().default(null),
  system_column: z.string().nullable(),
});

export const validateReport = z.object({
  /** How the rows were read; null for text files, and if nothing could be read. */
  format: dataFormat.nullable(),
  columns: z.array(z.string()),
  rows_total: z.int(),
  rows_kept: z.int(),
  rows_dropped: z.int(),
  /** The first 50 dropped rows. */
  dropped: z.array(droppedRow),
  rows_truncated: z.int(),
  /** Tokens of one epoch of the training part, after chunking. */
  train_tokens: z.int(),
  eval_tokens: z.int(),
  /**
   * The same including padding to each batch's longest example, assuming random order. For packed examples it
   * includes the extra cost of attention over long sequences, expressed in tokens.
   */
  train_padded_tokens: z.int(),
  eval_padded_tokens: z.int(),
  train_examples: z.int(),
  eval_examples: z.int(),
  steps_total: z.int(),
  /** Number of packed sequences of the training examples; null without packing. */
  packs: z.int().nullable().default(null),
  /** For KTO: number of good and bad answers in the training examples. */
  ratings: z.object({ good: z.int(), bad: z.int() }).nullable().default(null),
  /** Example count per bin of token length. */
  token_histogram: z.array(z.object({ from: z.int(), to: z.int(), count: z.int() })),
  /**
   * Up to 5 of the first examples: the turns of the row (none for text), and the text that the model reads,
   * split into parts that count for the loss or not.
   */
  samples: z.array(
    sample.extend({
      /** For DPO: the worse answer to the same question. */
      rejected: sample.nullable().default(null),
      /** For KTO: whether its answer is good. */
      label: z.boolean().nullable().default(null),
      /** For GRPO: the reference for its answers, if the row has one. */
      reference: z.string().nullable().default(null),
    }),
  ),
  base_parameters: z.int(),
  trainable_parameters: z.int(),
  /** Peak bytes of training on a CPU, by the formula of docs/engine.md. */
  memory_bytes: z.int(),
  /** Peak bytes on a GPU. */
  gpu_memory_bytes: z.int(),
  tied_embeddings: z.boolean(),
  /** Why llama.cpp could not serve the adapter, as one plain sentence; null if it could. */
  gguf_obstacle: z.string().nullable(),
  /** Errors that make the run impossible, most important first, one plain sentence each. */
  critical_errors: z.array(z.string()),
  /** Errors of the validation file. */
  validation_errors: z.array(z.string()).default([]),
  /** Errors of the target modules. */
  target_errors: z.array(z.string()).default([]),
  /** Errors of the rewards. */
  reward_errors: z.array(z.string()).default([]),
  warnings: z.array(z.string()),
});

/**
 * Output of `validate` while it reads a long file, one JSON object per line; the last line is the plain
 * report. `sample` occurs once: the expected report if the whole file is like its first rows.
 */
export const validateProgress = z.object({
  rows_read: z.int(),
  /** Share of the file, from 0 to 1. */
  part: z.number().min(0).max(1),
  sample: validateReport.nullable(),
});

export type ValidateProgress = z.infer<typeof validateProgress>;
export type ValidateSpec = z.infer<typeof validateSpec>;
export type ValidateReport = z.infer<typeof validateReport>;
