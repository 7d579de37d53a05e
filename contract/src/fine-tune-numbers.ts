import type { NumberField } from './fields/number-field.ts';
import { type DataFormatName, type Objective, objectives } from './limits.ts';

/** Settings of a fine-tune. */

export const segmentationMethods = ['regex', 'tokenizer', 'spacy', 'nltk'] as const;

/** Learning rate schedules after the warm-up. */
export const lrSchedulers = ['cosine', 'linear', 'constant'] as const;

/** AdamW, or the same with its two moments in 8 bits. */
export const optimizers = ['adamw', 'adamw_8bit'] as const;

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

/** Target that stands for all linear modules of the layers, as in PEFT. It must be the only target. */
export const ALL_LINEAR = 'all-linear';

/** Trained weights: low-rank matrices next to the base, the same with the base in 4 bits, or all weights. */
export const adaptations = ['lora', 'qlora', 'full'] as const;
export type Adaptation = (typeof adaptations)[number];

/** The format that an objective requires; `sft` accepts any except prompts. */
export const comparedFormats = {
  sft: null,
  dpo: 'preference',
  kto: 'feedback',
  grpo: 'prompts',
} as const satisfies Record<Objective, DataFormatName | null>;

/** Common names of the objectives. */
export const objectiveNames = {
  sft: 'SFT',
  dpo: 'DPO',
  kto: 'KTO',
  grpo: 'GRPO',
} as const satisfies Record<Objective, string>;

/** Returns the default objective: the one for compared or rated answers if the format has them. */
export function defaultObjective(format: DataFormatName | null | undefined): Objective {
  return objectives.find((objective) => format && comparedFormats[objective] === format) ?? 'sft';
}

/** Returns the default target modules. */
export function defaultTargetModules(
  objective: Objective,
  adaptation: Adaptation = 'lora',
): (typeof loraTargetModules)[number][] {
  const hasHead = trainsHead(objective, adaptation);
  return loraTargetModules.filter((name) => hasHead || name !== 'lm_head');
}

/**
 * True if an adapter on the output layer can be trained: not if probabilities are compared, nor with 4 bits.
 */
export function trainsHead(objective: Objective, adaptation: Adaptation): boolean {
  return objective === 'sft' && adaptation === 'lora';
}

/** Message: noise would affect the base's probabilities differently. */
export function noiseWith(objective: Objective): string {
  return `NEFTune noise is for SFT: set it to 0 with ${objectiveNames[objective]}`;
}

/** Message for the output layer, which cannot be trained with compared probabilities or 4 bits. */
export function headWith(objective: Objective): string {
  return `lm_head cannot be trained with ${objective === 'sft' ? 'QLoRA' : objectiveNames[objective]}: leave it out`;
}

/** Message for DoRA with 4-bit weights. */
export const DORA_IN_4_BITS = 'DoRA is merged into weights that QLoRA does not train on: switch it off';

/** Message for 4 bits without a GPU. */
export const QLORA_WITHOUT_GPU = 'QLoRA needs a GPU, and there is none here: choose LoRA';

/** Message for an adapter field without an adapter. */
export function adapterFieldWith(field: string): string {
  return `${field} is for LoRA: leave it out of a full fine-tune`;
}

/** Message for packing with compared or rated answers. */
export function packingWith(objective: Objective): string {
  return `Packing is for SFT: switch it off with ${objectiveNames[objective]}`;
}

/** Message for rewards if the data has the answers. */
export function rewardsWith(objective: Objective): string {
  return `Rewards are for GRPO: leave them out with ${objectiveNames[objective]}`;
}

export const NO_REWARD = 'GRPO learns from rewards: add at least one';
export const NO_ANSWERS = 'Prompts have no answers that SFT could learn: choose GRPO';
/** Message for answers that leave no room for the prompt in a chunk. */
export const ANSWER_TOO_LONG =
  'Max answer tokens must be fewer than the max chunk size, which the prompt shares';

/** Limits for the number of rewards and the length of a pattern or schema. */
export const REWARDS_MAX = 8;
export const PATTERN_LENGTH_MAX = 1_000;
export const REWARD_SCHEMA_LENGTH_MAX = 32_768;

/** Amount that a reward adds for an answer; negative values penalize. */
export const rewardWeight = {
  label: 'Reward weight',
  min: -100,
  max: 100,
  step: 0.1,
  default: 1,
} as const satisfies NumberField;

/** KTO estimates how far the model has moved from answers to other questions in the same batch. */
export const KTO_BATCH_MIN = 2;
export const KTO_BATCH = `KTO compares the answers of a batch: its batch size must be at least ${KTO_BATCH_MIN}`;

/**
 * Numeric settings of a fine-tune. The wizard builds its fields from them, and the server validates with
 * them.
 */
export const fineTuneNumbers = {
  train_test_split: { label: 'Train/test split', min: 0.1, max: 0.95, step: 0.05, default: 0.8 },
  lora_r: { label: 'LoRA rank', min: 1, max: 256, step: 1, default: 8 },
  lora_dropout: { label: 'LoRA dropout', min: 0, max: 0.5, step: 0.01, default: 0.05 },
  learning_rate: { label: 'Learning rate', min: 0, aboveMin: true, max: 1, step: 0.001, default: 0.001 },
  // The maximums are far above practical values; they only keep memory and cost finite.
  epochs: { label: 'Epochs', min: 1, max: 1000, step: 1, default: 1 },
  batch_size: { label: 'Batch size', min: 1, max: 1024, step: 1, default: 1 },
  eval_batch_size: { label: 'Eval batch size', min: 1, max: 1024, step: 1, default: 1 },
  gradient_accumulation_steps: { label: 'Gradient accumulation', min: 1, max: 1024, step: 1, default: 4 },
  max_chunk_size: { label: 'Max chunk size', min: 1, max: 131_072, step: 1, default: 512 },
  stride: { label: 'Stride', min: 1, max: 131_072, step: 1, default: 50 },
  min_segment_length: { label: 'Min segment length', min: 1, max: 131_072, step: 1, default: 15 },
  beta: { label: 'Beta', min: 0.001, max: 10, step: 0.05, default: 0.1 },
  sft_weight: { label: 'SFT weight', min: 0, max: 10, step: 0.1, default: 0 },
  desirable_weight: {
    label: 'Weight of good answers',
    min: 0,
    aboveMin: true,
    max: 100,
    step: 0.1,
    default: 1,
  },
  undesirable_weight: {
    label: 'Weight of bad answers',
    min: 0,
    aboveMin: true,
    max: 100,
    step: 0.1,
    default: 1,
  },
  generations: { label: 'Answers per prompt', min: 2, max: 64, step: 1, default: 8 },
  max_new_tokens: { label: 'Max answer tokens', min: 1, max: 16_384, step: 1, default: 128 },
  temperature: { label: 'Temperature', min: 0.1, max: 2, step: 0.1, default: 1 },
  warmup_ratio: { label: 'Warm-up', min: 0, max: 0.5, step: 0.01, default: 0.03 },
  weight_decay: { label: 'Weight decay', min: 0, max: 1, step: 0.01, default: 0 },
  max_grad_norm: { label: 'Max gradient norm', min: 0, max: 1000, step: 0.1, default: 1 },
  eval_steps: { label: 'Steps between evaluations', min: 0, max: 100_000, step: 1, default: 0 },
  early_stopping_patience: { label: 'Early stopping patience', min: 0, max: 100, step: 1, default: 0 },
  neftune_noise_alpha: { label: 'NEFTune noise', min: 0, max: 100, step: 0.5, default: 0 },
} as const satisfies Record<string, NumberField>;

/** With fewer held-out examples the loss is too noisy to select a checkpoint or stop a run. */
export const CHOOSING_EXAMPLES_MIN = 5;

type FineTuneNumber = keyof typeof fineTuneNumbers;

/** Defaults of a fine-tune in the wizard and on the server. */
export const fineTuneDefaults = {
  ...(Object.fromEntries(
    Object.entries(fineTuneNumbers).map(([name, field]) => [name, field.default]),
  ) as Record<FineTuneNumber, number>),
  segmentation_method: 'regex',
  lr_scheduler: 'cosine',
  optimizer: 'adamw',
  adaptation: 'lora',
  use_rslora: false,
  use_dora: false,
  packing: false,
  accelerator_type: 'NVIDIA_TESLA_A100',
  accelerator_count: 1,
} as const;
