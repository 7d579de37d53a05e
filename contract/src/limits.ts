import type { NumberField } from './fields/number-field.ts';

/** Numbers of the product that both sides check. */

export const FILE_SIZE_LIMIT_BYTES = 524_288_000;
export const FILE_SIZE_LIMIT_MESSAGE = 'File size exceeds 500MB limit';
export const MODEL_NAME_LENGTH_MIN = 4;
/** What is said of a text that has more characters than `lengthMax`. */
export function tooLong(field: string, lengthMax: number): string {
  return `${field} must have at most ${lengthMax.toLocaleString('en')} characters`;
}

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

/** What people call a GPU: one that the product does not list goes by the name that its driver gives it. */
export function gpuLabel(type: string): string {
  const listed = gpuTypes.find((one) => one === type);
  return listed ? gpuLabels[listed] : type;
}
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

/**
 * What a row of a file with columns is: a list of turns (`messages` of OpenAI, `conversations` of
 * ShareGPT), instruction, input and output, a question and an answer, or a text that is continued.
 */
export const dataFormats = ['messages', 'sharegpt', 'alpaca', 'prompt_completion', 'text'] as const;
export type DataFormatName = (typeof dataFormats)[number];

export const segmentationMethods = ['regex', 'tokenizer', 'spacy', 'nltk'] as const;

export const loraTargetModules = [
  'q_proj',
  'k_proj',
  'v_proj',
  'o_proj',
  'gate_proj',
  'up_proj',
  'down_proj',
  'lm_head',
] as const;

/** The numbers of a fine-tune. The wizard draws its fields from them, and the server checks by them. */
export const fineTuneNumbers = {
  train_test_split: { label: 'Train/test split', min: 0.1, max: 0.95, step: 0.05, default: 0.8 },
  lora_r: { label: 'LoRA rank', min: 1, max: 256, step: 1, default: 8 },
  lora_dropout: { label: 'LoRA dropout', min: 0, max: 0.5, step: 0.01, default: 0.05 },
  learning_rate: { label: 'Learning rate', min: 0, aboveMin: true, max: 1, step: 0.001, default: 0.001 },
  // Their upper bounds are far above what anybody trains with: they keep memory and money within numbers that exist.
  epochs: { label: 'Epochs', min: 1, max: 1000, step: 1, default: 1 },
  batch_size: { label: 'Batch size', min: 1, max: 1024, step: 1, default: 1 },
  eval_batch_size: { label: 'Eval batch size', min: 1, max: 1024, step: 1, default: 1 },
  gradient_accumulation_steps: { label: 'Gradient accumulation', min: 1, max: 1024, step: 1, default: 4 },
  max_chunk_size: { label: 'Max chunk size', min: 1, max: 131_072, step: 1, default: 512 },
  stride: { label: 'Stride', min: 1, max: 131_072, step: 1, default: 50 },
  min_segment_length: { label: 'Min segment length', min: 1, max: 131_072, step: 1, default: 15 },
} as const satisfies Record<string, NumberField>;

type FineTuneNumber = keyof typeof fineTuneNumbers;

/** Defaults of a fine-tune, as the wizard shows them and the server assumes them. */
export const fineTuneDefaults = {
  ...(Object.fromEntries(
    Object.entries(fineTuneNumbers).map(([name, field]) => [name, field.default]),
  ) as Record<FineTuneNumber, number>),
  segmentation_method: 'regex',
  accelerator_type: 'NVIDIA_TESLA_A100',
  accelerator_count: 1,
} as const;

/** BGL above which the web app asks once more before it sends them to somebody: 10 US dollars. */
export const SEND_CONFIRM_BGL = '250';

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

const units = ['Bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** 1536 -> '1.50 KB'. Powers of 1024, two decimals; whole bytes below 1 KB. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(2)} ${units[unit]}`;
}

/** BGL of one unit at most that an operator asks: 4,000 USD. */
export const UNIT_PRICE_MAX_BGL = 100_000;
/** Days ahead that a price may be changed. */
export const PRICE_AHEAD_DAYS_MAX = 365;
