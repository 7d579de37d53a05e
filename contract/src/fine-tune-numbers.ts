import type { NumberField } from './fields/number-field.ts';
import type { DataFormatName, Objective } from './limits.ts';

/** What a fine-tune may be set to. */

export const segmentationMethods = ['regex', 'tokenizer', 'spacy', 'nltk'] as const;

/** How the learning rate goes on after the warm-up. */
export const lrSchedulers = ['cosine', 'linear', 'constant'] as const;

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

/** What is minimised where nothing is said: of pairs of answers that the better one is preferred. */
export function usualObjective(format: DataFormatName | null | undefined): Objective {
  return format === 'preference' ? 'dpo' : 'sft';
}

/** The modules that are trained where none are named. */
export function usualTargetModules(objective: Objective): (typeof loraTargetModules)[number][] {
  return loraTargetModules.filter((name) => objective === 'sft' || name !== 'lm_head');
}

/** What is said where DPO is asked for noise: it compares with the base, which would be read with other noise. */
export const NEFTUNE_WITH_DPO = 'NEFTune noise is for SFT: set it to 0 with DPO';

/** What is said where DPO is asked to train the output layer. */
export const HEAD_WITH_DPO = 'lm_head cannot be trained with DPO: leave it out';

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
  beta: { label: 'Beta', min: 0.001, max: 10, step: 0.05, default: 0.1 },
  sft_weight: { label: 'SFT weight', min: 0, max: 10, step: 0.1, default: 0 },
  warmup_ratio: { label: 'Warm-up', min: 0, max: 0.5, step: 0.01, default: 0.03 },
  weight_decay: { label: 'Weight decay', min: 0, max: 1, step: 0.01, default: 0 },
  max_grad_norm: { label: 'Max gradient norm', min: 0, max: 1000, step: 0.1, default: 1 },
  eval_steps: { label: 'Steps between evaluations', min: 0, max: 100_000, step: 1, default: 0 },
  early_stopping_patience: { label: 'Early stopping patience', min: 0, max: 100, step: 1, default: 0 },
  neftune_noise_alpha: { label: 'NEFTune noise', min: 0, max: 100, step: 0.5, default: 0 },
} as const satisfies Record<string, NumberField>;

/** A loss of fewer held-out examples changes more by chance than by a step: none is chosen by it, and no run is stopped by it. */
export const CHOOSING_EXAMPLES_MIN = 5;

type FineTuneNumber = keyof typeof fineTuneNumbers;

/** Defaults of a fine-tune, as the wizard shows them and the server assumes them. */
export const fineTuneDefaults = {
  ...(Object.fromEntries(
    Object.entries(fineTuneNumbers).map(([name, field]) => [name, field.default]),
  ) as Record<FineTuneNumber, number>),
  segmentation_method: 'regex',
  lr_scheduler: 'cosine',
  use_rslora: false,
  accelerator_type: 'NVIDIA_TESLA_A100',
  accelerator_count: 1,
} as const;
