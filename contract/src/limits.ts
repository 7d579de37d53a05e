/** Limits that both the server and the web app check. */

export const FILE_SIZE_LIMIT_BYTES = 524_288_000;
export const FILE_SIZE_LIMIT_MESSAGE = 'File size exceeds 500MB limit';
export const MODEL_NAME_LENGTH_MIN = 4;
/** For datasets, models and users. */
export const NAME_LENGTH_MAX = 200;
export const KEY_NAME_LENGTH_MAX = 100;
export const CONFIGURATION_NAME_LENGTH_MAX = 100;
/** Description of a dataset or model. */
export const DETAILS_LENGTH_MAX = 10_000;
export const FAMILY_LENGTH_MAX = 50;
export const TAG_LENGTH_MAX = 50;
/** Note of an operator's transfer or codes. */
export const NOTE_LENGTH_MAX = 200;
/** Message to the operators. */
export const SUBJECT_LENGTH_MAX = 200;
export const MESSAGE_LENGTH_MAX = 5_000;

export const datasetCategories = ['Book', 'Art', 'Artificial intelligence'] as const;
export const uploadBaseModelTypes = ['llama3', 'qwen'] as const;

export const gpuTypes = [
  'NVIDIA_TESLA_V100',
  'NVIDIA_TESLA_A100',
  'NVIDIA_TESLA_A100_80GB',
  'NVIDIA_H100_80GB',
] as const;
export type GpuType = (typeof gpuTypes)[number];
export const gpuLabels: Record<GpuType, string> = {
  NVIDIA_TESLA_V100: 'NVIDIA Tesla V100 (16GB)',
  NVIDIA_TESLA_A100: 'NVIDIA Tesla A100 (40GB)',
  NVIDIA_TESLA_A100_80GB: 'NVIDIA Tesla A100 (80GB)',
  NVIDIA_H100_80GB: 'NVIDIA H100 (80GB)',
};

/**
 * Default maximum number of tokens of a request with its answer. Smaller for models with a smaller context.
 */
export const DEFAULT_CONTEXT_TOKENS = 8192;
/** Limits for a deployment's context. */
export const CONTEXT_TOKENS_MIN = 512;
export const CONTEXT_TOKENS_MAX = 1_048_576;
/** Maximum tokens of an answer if the call sets no limit. */
export const DEFAULT_ANSWER_TOKENS = 4096;

/** API names of GPU instances. */
export const instanceTypes = ['v100', 'a100', 'a100-80gb', 'h100'] as const;
export type InstanceType = (typeof instanceTypes)[number];
export const instanceGpus: Record<InstanceType, GpuType> = {
  v100: 'NVIDIA_TESLA_V100',
  a100: 'NVIDIA_TESLA_A100',
  'a100-80gb': 'NVIDIA_TESLA_A100_80GB',
  h100: 'NVIDIA_H100_80GB',
};
export const gpuCounts = [1, 2, 4, 8] as const;
export type GpuCount = (typeof gpuCounts)[number];

/**
 * Formats of rows. Conversations: `messages` (OpenAI) and `sharegpt` (`conversations` of ShareGPT), both
 * lists of turns. Single answers: instruction, input and output; question and answer; or a text to continue.
 * Compared answers: a question with a better and a worse answer, with a rated answer, or without an answer.
 */
export const dataFormats = [
  'messages',
  'sharegpt',
  'alpaca',
  'prompt_completion',
  'text',
  'preference',
  'feedback',
  'prompts',
] as const;
export type DataFormatName = (typeof dataFormats)[number];

/**
 * Training objectives: supervised fine-tuning, direct preference optimization on answer pairs,
 * Kahneman-Tversky optimization on rated answers, and group relative policy optimization on the model's own
 * answers.
 */
export const objectives = ['sft', 'dpo', 'kto', 'grpo'] as const;
export type Objective = (typeof objectives)[number];

/** How an answer is compared with the reference in its row: as text, or by the last number in each. */
export const matchComparisons = ['text', 'last_number'] as const;
/** OpenAI's `string_check` operations: equals, differs, contains, contains case-insensitively. */
export const stringChecks = ['eq', 'ne', 'like', 'ilike'] as const;

/** Limits for one purchase in US cents, and the offered amounts in dollars. */
export const USD_CENTS_MIN = 100;
export const USD_CENTS_MAX = 1_000_000;
export const creditPackagesUsd = [5, 20, 50, 100] as const;

/** Maximum credit codes per call. */
export const CODES_PER_CALL_MAX = 100;

/** Period of an API key's budget: a UTC day, a UTC month, or no period (`total`). */
export const budgetPeriods = ['day', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** Number of hours for which the previous secret of a rotated API key can keep working. */
export const OLD_KEY_HOURS = 24;

/** Maximum unit price that an operator may set: 4,000 USD. */
export const UNIT_PRICE_MAX_BGL = 100_000;
/** How many days ahead a price change may be scheduled. */
export const PRICE_AHEAD_DAYS_MAX = 365;

/** Default number of days of a spending summary, the last one included. */
export const SPEND_DAYS_DEFAULT = 30;
/** Maximum days of a spending summary: a leap year. */
export const SPEND_DAYS_MAX = 366;
