/** Numbers of the product that both sides check. */

export const FILE_SIZE_LIMIT_BYTES = 524_288_000;
export const FILE_SIZE_LIMIT_MESSAGE = 'File size exceeds 500MB limit';
export const MODEL_NAME_LENGTH_MIN = 4;
/** Of a dataset, a model and a person. */
export const NAME_LENGTH_MAX = 200;
export const KEY_NAME_LENGTH_MAX = 100;
export const CONFIGURATION_NAME_LENGTH_MAX = 100;
/** Of the description of a dataset or model. */
export const DETAILS_LENGTH_MAX = 10_000;
export const FAMILY_LENGTH_MAX = 50;
export const TAG_LENGTH_MAX = 50;
/** Of what an operator writes on a transfer or on codes. */
export const NOTE_LENGTH_MAX = 200;
/** Of a message to the operators. */
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

/** What a request to a text model may have, with its answer, unless its deployment asks for another context; a model that was made for less has less. */
export const DEFAULT_CONTEXT_TOKENS = 8192;
/** What a deployment may ask for. */
export const CONTEXT_TOKENS_MIN = 512;
export const CONTEXT_TOKENS_MAX = 1_048_576;
/** The longest answer to a chat that names no maximum. */
export const DEFAULT_ANSWER_TOKENS = 4096;

/** What deployments call them. */
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
 * What a row of a file with columns is: a list of turns (`messages` of OpenAI, `conversations` of
 * ShareGPT), instruction, input and output, a question and an answer, a text that is continued, a
 * question with a better and a worse answer, one with an answer that is rated good or bad, or a question alone.
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
 * What training minimises: the loss of the answers, direct preference optimisation's of pairs of them,
 * Kahneman-Tversky optimisation's of those that are rated, or group relative policy optimisation's of those that
 * the model writes itself.
 */
export const objectives = ['sft', 'dpo', 'kto', 'grpo'] as const;
export type Objective = (typeof objectives)[number];

/** How an answer is compared with the reference of its row: as a text, or by the last number in each. */
export const matchComparisons = ['text', 'last_number'] as const;
/** How OpenAI's `string_check` compares an answer: it is the reference, is not, contains it, or contains it in any case. */
export const stringChecks = ['eq', 'ne', 'like', 'ilike'] as const;

/** What credits can be bought for at once, in cents of a US dollar, and the amounts in dollars that are offered. */
export const USD_CENTS_MIN = 100;
export const USD_CENTS_MAX = 1_000_000;
export const creditPackagesUsd = [5, 20, 50, 100] as const;

/** Codes for credits that are made by one call. */
export const CODES_AT_ONCE_MAX = 100;

/** What a budget of an API key counts: a day or a month of UTC, or all time. */
export const budgetPeriods = ['day', 'month', 'total'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

/** Hours that a rotated API key still opens, where that is asked for. */
export const OLD_KEY_HOURS = 24;

/** BGL of one unit at most that an operator asks: 4,000 USD. */
export const UNIT_PRICE_MAX_BGL = 100_000;
/** Days ahead that a price may be changed. */
export const PRICE_AHEAD_DAYS_MAX = 365;

/** Days whose spending is summed where the caller does not say from when on, the last one included. */
export const SPEND_DAYS_DEFAULT = 30;
/** Days whose spending is summed at once: a leap year. */
export const SPEND_DAYS_MAX = 366;
