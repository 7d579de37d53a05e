import {
  type Adaptation,
  defaultObjective,
  defaultTargetModules,
  fineTuneDefaults,
  type lrSchedulers,
  objectiveNames,
  type optimizers,
  type segmentationMethods,
} from '@bakehouse/contract/fine-tune-numbers';
import type { DataFormatName, GpuType, Objective } from '@bakehouse/contract/limits';
import { blankReward, type RewardDraft, toReward } from './rewards/reward-draft.ts';

/** All matrices of the layers, without the output layer, which many bases share with their embeddings. */
export const layerModules = defaultTargetModules('dpo');

/** Source of a new model, which determines the fields. */
export type ModelType = 'upload' | 'finetune' | 'huggingface';

/** Training parameters in the form. */
export type TrainingParameters = {
  epochs: number;
  learning_rate: number;
  lr_scheduler: (typeof lrSchedulers)[number];
  optimizer: (typeof optimizers)[number];
  warmup_ratio: number;
  weight_decay: number;
  max_grad_norm: number;
  neftune_noise_alpha: number;
  eval_steps: number;
  early_stopping_patience: number;
  objective: Objective;
  adaptation: Adaptation;
  beta: number;
  sft_weight: number;
  desirable_weight: number;
  undesirable_weight: number;
  generations: number;
  max_new_tokens: number;
  temperature: number;
  rewards: RewardDraft[];
  /** Null until the file has been inspected. */
  data_format: DataFormatName | null;
  input_column: string;
  output_column: string;
  rejected_column: string;
  label_column: string;
  system_column: string;
  segmentation_method: (typeof segmentationMethods)[number];
  batch_size: number;
  eval_batch_size: number;
  gradient_accumulation_steps: number;
  packing: boolean;
  max_chunk_size: number;
  stride: number;
  min_segment_length: number;
  train_test_split: number;
  lora_r: number;
  lora_dropout: number;
  use_rslora: boolean;
  use_dora: boolean;
  lora_target_modules: string[];
  accelerator_type: GpuType | null;
  accelerator_count: number;
};

/** How the rows of a file are read. */
export type RowFormat = Pick<
  TrainingParameters,
  | 'data_format'
  | 'input_column'
  | 'output_column'
  | 'rejected_column'
  | 'label_column'
  | 'system_column'
  | 'objective'
>;

/** Returns a format without chosen columns. */
export function blankFormat(data_format: DataFormatName | null): RowFormat {
  const columns = { input_column: '', output_column: '', rejected_column: '', label_column: '' };
  return { ...columns, system_column: '', data_format, objective: defaultObjective(data_format) };
}

export const initialParameters: TrainingParameters = {
  ...fineTuneDefaults,
  ...blankFormat(null),
  rewards: [blankReward],
  lora_target_modules: defaultTargetModules('sft'),
};

/** Converts parameters to API fields, with only the columns that the format uses. */
export function wireParameters({
  data_format,
  input_column,
  output_column,
  rejected_column,
  label_column,
  system_column,
  beta,
  sft_weight,
  desirable_weight,
  undesirable_weight,
  generations,
  max_new_tokens,
  temperature,
  rewards,
  neftune_noise_alpha,
  packing,
  lora_r,
  lora_dropout,
  use_rslora,
  use_dora,
  lora_target_modules,
  accelerator_type,
  accelerator_count,
  ...rest
}: TrainingParameters) {
  return {
    ...rest,
    ...(rest.adaptation !== 'full' && { lora_r, lora_dropout, use_rslora, lora_target_modules }),
    ...(rest.adaptation === 'lora' && { use_dora }),
    accelerator_type: accelerator_type ?? undefined,
    accelerator_count: accelerator_count as 1 | 2 | 4 | 8,
    ...(data_format && { data_format }),
    ...(input_column && { input_column }),
    ...(output_column && { output_column }),
    ...(rejected_column && { rejected_column }),
    ...(label_column && { label_column }),
    ...{
      sft: { neftune_noise_alpha, packing },
      dpo: { beta, sft_weight },
      kto: { beta, desirable_weight, undesirable_weight },
      grpo: { beta, generations, max_new_tokens, temperature, rewards: rewards.map(toReward) },
    }[rest.objective],
    // Empty disables the system prompt of formats that have one.
    ...(data_format && data_format !== 'text' && { system_column }),
  };
}

/** Returns true for files of plain text, which have no columns. */
export function isTextFile(fileName: string): boolean {
  return /\.(txt|md)$/i.test(fileName);
}

/** Returns a hint if the value is far from the usual range, else null. */
export function learningRateAdvice(
  rate: number,
  objective: Objective = 'sft',
  adaptation: Adaptation = 'lora',
): string | null {
  if (!(rate > 0)) return null;
  if (adaptation === 'full') return fullRateAdvice(rate, objective);
  if (objective !== 'sft') return shiftingRateAdvice(rate, objective);
  if (rate > 0.005) return 'This is much higher than usual, and training may become unstable. Try 0.0002.';
  if (rate < 0.00001) return 'At this rate the model will hardly change. Try 0.0002.';
  return null;
}

/** Rates for objectives that only reweight the base model's own answers. */
const shiftingRates = {
  dpo: { max: 0.0005, usual: '0.00005' },
  kto: { max: 0.001, usual: '0.0001' },
  grpo: { max: 0.001, usual: '0.0001' },
};

function shiftingRateAdvice(rate: number, objective: keyof typeof shiftingRates): string | null {
  const { max, usual } = shiftingRates[objective];
  if (rate > max) {
    const name = objectiveNames[objective];
    return `With ${name} this is much higher than usual, and the model may forget how to answer. Try ${usual}.`;
  }
  return rate < 0.000001 ? `At this rate the model will hardly change. Try ${usual}.` : null;
}

/** Each step moves every weight by about the rate, so an adapter's rate is far too high. */
function fullRateAdvice(rate: number, objective: Objective): string | null {
  const { max, usual } = fullRates[objective === 'sft' ? 'sft' : 'other'];
  if (rate > max)
    return `With all weights trained this is much higher than usual, and the model may forget what it knew. Try ${usual}.`;
  return rate < 0.0000001 ? `At this rate the model will hardly change. Try ${usual}.` : null;
}

const fullRates = {
  sft: { max: 0.0001, usual: '0.00002' },
  other: { max: 0.00005, usual: '0.000001' },
};

/** Parameters that a fine-tune from the Hub doesn't have. */
const chunking = ['max_chunk_size', 'stride'] as const;

/** Returns true if this type's form has the parameter. */
export function usesParameter(type: ModelType | null, name: string): boolean {
  return type !== 'huggingface' || !chunking.some((one) => one === name);
}

const panels = {
  segmentation: ['segmentation_method', ...chunking, 'min_segment_length', 'packing'],
  objective: [
    ...(['beta', 'sft_weight', 'desirable_weight', 'undesirable_weight'] as const),
    ...(['generations', 'max_new_tokens', 'temperature'] as const),
  ],
  optimizer: [
    ...(['optimizer', 'lr_scheduler', 'warmup_ratio', 'weight_decay'] as const),
    ...(['max_grad_norm', 'neftune_noise_alpha'] as const),
  ],
  evaluation: ['eval_steps', 'early_stopping_patience'],
  adaptation: ['adaptation'],
  lora: ['lora_r', 'lora_dropout', 'use_rslora', 'use_dora', 'lora_target_modules'],
} as const satisfies Record<string, readonly (keyof TrainingParameters)[]>;

/** Returns true if an advanced panel contains values that no preset has, so that it opens automatically. */
export function differsFromDefaults(parameters: TrainingParameters, panel: keyof typeof panels): boolean {
  return panels[panel].some((field) => {
    const value = String(parameters[field]);
    if (field === 'lora_target_modules' && value === String(layerModules)) return false;
    return value !== String(initialParameters[field]);
  });
}
