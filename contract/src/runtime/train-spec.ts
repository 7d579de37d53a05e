import * as z from 'zod';
import { lrSchedulers } from '../fine-tune-numbers.ts';
import { dataFormats, matchComparisons, objectives, stringChecks } from '../limits.ts';
import { workloadSpecBase } from './workload-spec.ts';

export const formatName = z.enum(dataFormats);

export const objective = z.enum(objectives);

/** How rows become training examples. Validation and training read the data with the same values. */
export const dataSpec = z.object({
  /** Path inside the `dataset` input. Its ending decides the reader: csv, jsonl, json, txt, parquet. */
  file_path: z.string().min(1),
  /**
   * Null, as in runs from before there was this field: question and answer where both columns are
   * named, else what the file is recognised as. Text files (.txt) have none, and no columns.
   */
  format: formatName.nullable().default(null),
  /**
   * Columns that hold question and answer. Of `messages`, `sharegpt` and `text` the first holds everything; of `prompts` the second
   * holds what answers are compared with, if anything.
   */
  input_column: z.string().nullable(),
  output_column: z.string().nullable(),
  /** Of `preference`: the column with the worse answer, where `output_column` has the better one. */
  rejected_column: z.string().nullable().default(null),
  /** Of `feedback`: the column that says whether the answer in `output_column` is good. */
  label_column: z.string().nullable().default(null),
  /** Column with a system prompt for the conversation of each row. */
  system_column: z.string().nullable().default(null),
  segmentation_method: z.enum(['regex', 'tokenizer', 'spacy', 'nltk']),
  /** Longest example in tokens; longer ones are cut into overlapping windows (text) or truncated (conversations). */
  max_chunk_size: z.int().min(1),
  /** Tokens that two neighbouring windows share. */
  stride: z.int().min(1),
  /** Text segments with fewer tokens than this are dropped. */
  min_segment_length: z.int().min(1),
  /**
   * Path inside the `validation` input, of a file that is held out whole: then all rows of `file_path` are trained on. It is
   * read in the same format, from the same columns. Null, as in runs from before there was this field: none.
   */
  validation_path: z.string().min(1).nullable().default(null),
  /** Part of the rows that is trained on, the rest being held out for evaluation, where there is no validation file. */
  train_test_split: z.number().min(0.1).max(0.95),
  seed: z
    .int()
    .min(0)
    .max(2 ** 31 - 1),
  /**
   * Today, for chat templates that ask for it: the day on which the run was requested, so that one
   * that goes on after midnight trains on the same tokens. Null, as in runs from before there was
   * this field: the day of the reading.
   */
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

/** With what only language models have. */
export const textLoraSpec = loraSpec.extend({
  /** Scaled by alpha / √r instead of alpha / r; false in runs from before there was this field. */
  use_rslora: z.boolean().default(false),
  /** Weight-decomposed; the result is the base with the adapter merged. False in runs from before there was this field. */
  use_dora: z.boolean().default(false),
});

/**
 * A rule that pays an answer its weight, or nothing. A pattern is a regular expression that is found somewhere in the answer; a match is
 * the answer that equals the row's reference, as a text with its white space squeezed or by the last number in each; a string check
 * compares the answer with a text, null being the row's reference; a JSON Schema is written as JSON, and the whole answer must be JSON
 * that it allows.
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
   * What is minimised. `dpo` needs rows of the format `preference`, `kto` of `feedback` and `grpo` of `prompts`; `sft` trains on the
   * better answers of such rows, and on the good ones, but not on prompts.
   */
  objective: objective.default('sft'),
  /** Of DPO, KTO and GRPO: how strongly the model is held to its base. */
  beta: z.number().positive().default(0.1),
  /** Of DPO: weight of the loss of SFT on the better answers, which is added to its own. */
  sft_weight: z.number().min(0).default(0),
  /** Of KTO: how much the loss of a good answer counts, and of a bad one. */
  desirable_weight: z.number().positive().default(1),
  undesirable_weight: z.number().positive().default(1),
  /** Of GRPO: how many answers the model writes to each prompt, of at most how many tokens, and at what temperature. */
  generations: z.int().min(2).default(8),
  max_new_tokens: z.int().min(1).default(128),
  temperature: z.number().positive().default(1),
  /** Of GRPO: what an answer is paid is the sum of these. */
  rewards: z.array(reward).default([]),
  epochs: z.int().min(1),
  learning_rate: z.number().positive(),
  /** The next five have the values of runs from before there were these fields. */
  lr_scheduler: z.enum(lrSchedulers).default('cosine'),
  /** Share of the steps, rounded down to whole ones. */
  warmup_ratio: z.number().min(0).max(0.5).default(0.03),
  weight_decay: z.number().min(0).default(0),
  /** 0: gradients are not clipped. */
  max_grad_norm: z.number().min(0).default(1),
  /** Of SFT; 0: no noise. */
  neftune_noise_alpha: z.number().min(0).default(0),
  /** Evaluations besides those after each epoch; 0: none, as in runs from before there was this field. */
  eval_steps: z.int().min(0).default(0),
  /** Evaluations without gain after which the run ends; 0: it does not, as in runs from before there was this field. */
  early_stopping_patience: z.int().min(0).default(0),
  batch_size: z.int().min(1),
  eval_batch_size: z.int().min(1),
  /** Of SFT: short examples share a sequence, none of which reads another. A batch counts sequences then. */
  packing: z.boolean().default(false),
  gradient_accumulation_steps: z.int().min(1),
  /** The base's linear layers in NF4 while an adapter trains; false in runs from before there was this field. */
  load_in_4bit: z.boolean().default(false),
  /** Null: all weights of the base are trained, and the result is a whole model. */
  lora: textLoraSpec.nullable(),
});

/** How hubs call what a run is made from, for its card. A repository is `namespace/name`. */
export const trainingSources = z.object({
  /** Of the public hub where it is a copy from there; null where not everybody may read it. */
  base_model: z.string().nullable(),
  /** 40 hexadecimal digits; null where it is no longer what was copied. */
  base_model_commit: z.string().nullable(),
  dataset: z.string().nullable(),
  dataset_commit: z.string().nullable(),
  /** What the base model's card says of its licence. */
  license: z.string().nullable(),
  license_name: z.string().nullable(),
  license_link: z.string().nullable(),
});

export type TrainingSources = z.infer<typeof trainingSources>;

/**
 * Input folders: `base_model` (safetensors and tokenizer), `dataset`, `validation` where the data has such a file, and two for each reward
 * model among the rewards. Where the result is a whole model, `base_gguf` with the base in one GGUF, if it has one: the result gets its
 * own in the same layout.
 */
export const trainTextSpec = workloadSpecBase.extend({
  kind: z.literal('train'),
  method: z.literal('lora'),
  title: z.string(),
  base_model_title: z.string(),
  dataset_title: z.string(),
  /** Null in runs from before there was this field. */
  sources: trainingSources.nullable().default(null),
  data: dataSpec,
  parameters: trainingParameters,
  device: z.enum(['auto', 'cpu', 'cuda', 'mps']),
  /** How many GPUs train together, a process on each; 1 in runs from before there was this field. */
  gpus: z.int().min(1).default(1),
});

export type TrainTextSpec = z.infer<typeof trainTextSpec>;

/** Input of `validate`: reads the file as training would, without a server and without torch. */
export const validateSpec = z.object({
  /** Local folder of the base model, for its tokenizer, chat template and config.json. */
  base_model_dir: z.string(),
  /** Local path of the data file; `data.file_path` still names it for the reader's ending. */
  data_file: z.string(),
  /** The same of the file that is held out, which `data.validation_path` names. */
  validation_file: z.string().nullable().default(null),
  data: dataSpec,
  parameters: trainingParameters,
});

export const droppedRow = z.object({
  /** 1-based line in the file where the row starts (parquet: row number). */
  line: z.int(),
  reason: z.string(),
});

/** What one side of a conversation says. */
export const turn = z.object({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: z.string(),
  /** Whether any of it is learnt: not what is only read, nor what the chunk size cuts away. */
  learnt: z.boolean(),
});

export const samplePart = z.object({ text: z.string(), learnt: z.boolean() });

export const sample = z.object({
  turns: z.array(turn),
  parts: z.array(samplePart),
  tokens: z.int(),
});

/** A format with the columns that it needs; of alpaca they go by their names. */
export const dataFormat = z.object({
  format: formatName,
  input_column: z.string(),
  output_column: z.string(),
  /** Of `preference` alone. */
  rejected_column: z.string().nullable().default(null),
  /** Of `feedback` alone. */
  label_column: z.string().nullable().default(null),
  system_column: z.string().nullable(),
});

export const validateReport = z.object({
  /** How the rows were read; null for text files, and where nothing could be read. */
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
   * The same with what fills each batch up to its longest example: a random order is expected in training. Of packed examples with what
   * attention takes more over a long sequence, as if it were tokens.
   */
  train_padded_tokens: z.int(),
  eval_padded_tokens: z.int(),
  train_examples: z.int(),
  eval_examples: z.int(),
  steps_total: z.int(),
  /** How many sequences the examples that are trained on are packed into; null: into none. */
  packs: z.int().nullable().default(null),
  /** Of the examples that are trained on by KTO: how many answers are good, and how many bad. */
  ratings: z.object({ good: z.int(), bad: z.int() }).nullable().default(null),
  /** Example count per bin of token length. */
  token_histogram: z.array(z.object({ from: z.int(), to: z.int(), count: z.int() })),
  /**
   * The first examples, at most 5: the turns of the row (none of a text), and the text that the model
   * reads, in parts of which the loss counts those that are learnt.
   */
  samples: z.array(
    sample.extend({
      /** The worse answer to the same question, where the objective is DPO. */
      rejected: sample.nullable().default(null),
      /** Whether its answer is good, where the objective is KTO. */
      label: z.boolean().nullable().default(null),
      /** What its answers are compared with, where the objective is GRPO and the row says. */
      reference: z.string().nullable().default(null),
    }),
  ),
  base_parameters: z.int(),
  trainable_parameters: z.int(),
  /** Peak bytes that training needs on a CPU, by the formula of docs/engine.md. */
  memory_bytes: z.int(),
  /** The same on a GPU. */
  gpu_memory_bytes: z.int(),
  tied_embeddings: z.boolean(),
  /** Why llama.cpp could not serve the adapter, as one plain sentence; null: it can. */
  gguf_obstacle: z.string().nullable(),
  /** What makes the run impossible, most important first, one plain sentence each. */
  critical_errors: z.array(z.string()),
  /** The same of the validation file. */
  validation_errors: z.array(z.string()).default([]),
  /** The same of the rewards. */
  reward_errors: z.array(z.string()).default([]),
  warnings: z.array(z.string()),
});

/**
 * What `validate` prints while it reads a long file, a JSON object per line; the report alone is the
 * last one. `sample` comes once: the report to expect if all of the file is like its first rows.
 */
export const validateProgress = z.object({
  rows_read: z.int(),
  /** Of the file, from 0 to 1. */
  part: z.number().min(0).max(1),
  sample: validateReport.nullable(),
});

export type ValidateProgress = z.infer<typeof validateProgress>;
export type ValidateSpec = z.infer<typeof validateSpec>;
export type ValidateReport = z.infer<typeof validateReport>;
