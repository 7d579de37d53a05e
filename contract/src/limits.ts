/** Numbers of the product that both sides check. */

export const FILE_SIZE_LIMIT_BYTES = 524_288_000;
export const FILE_SIZE_LIMIT_MESSAGE = 'File size exceeds 500MB limit';
export const MODEL_NAME_LENGTH_MIN = 4;

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

/** Defaults of a fine-tune, as the wizard shows them and the server assumes them. */
export const fineTuneDefaults = {
  epochs: 1,
  learning_rate: 0.001,
  batch_size: 1,
  eval_batch_size: 1,
  gradient_accumulation_steps: 4,
  max_chunk_size: 512,
  stride: 50,
  min_segment_length: 15,
  train_test_split: 0.8,
  lora_r: 8,
  lora_dropout: 0.05,
  segmentation_method: 'regex',
  accelerator_type: 'NVIDIA_TESLA_A100',
  accelerator_count: 1,
} as const;

export const bounds = {
  train_test_split: { min: 0.1, max: 0.95, step: 0.05 },
  lora_r: { min: 1, max: 256, step: 1 },
  lora_dropout: { min: 0, max: 0.5, step: 0.01 },
  learning_rate: { max: 1, step: 0.001 },
  // Far above what anybody trains with: they keep memory and money within numbers that exist.
  epochs: { min: 1, max: 1000, step: 1 },
  batch_size: { min: 1, max: 1024, step: 1 },
  eval_batch_size: { min: 1, max: 1024, step: 1 },
  gradient_accumulation_steps: { min: 1, max: 1024, step: 1 },
  max_chunk_size: { min: 1, max: 131_072, step: 1 },
  stride: { min: 1, max: 131_072, step: 1 },
  min_segment_length: { min: 1, max: 131_072, step: 1 },
} as const;

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
