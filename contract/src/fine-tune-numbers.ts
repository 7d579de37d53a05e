import type { NumberField } from './fields/number-field.ts';
import { type DataFormatName, type Objective, objectives } from './limits.ts';

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

/** What of the base model is trained: low-rank matrices beside its own, the same while its own are in 4 bits, or all that it has. */
export const adaptations = ['lora', 'qlora', 'full'] as const;
export type Adaptation = (typeof adaptations)[number];

/** The one format whose rows an objective compares, or answers; of `sft` any other than prompts will do. */
export const comparedFormats = {
  sft: null,
  dpo: 'preference',
  kto: 'feedback',
  grpo: 'prompts',
} as const satisfies Record<Objective, DataFormatName | null>;

/** What the field calls them. */
export const objectiveNames = {
  sft: 'SFT',
  dpo: 'DPO',
  kto: 'KTO',
  grpo: 'GRPO',
} as const satisfies Record<Objective, string>;

/** What is minimised where nothing is said: of answers that are compared, or rated, what learns from that. */
export function usualObjective(format: DataFormatName | null | undefined): Objective {
  return objectives.find((objective) => format && comparedFormats[objective] === format) ?? 'sft';
}

/** The modules that are trained where none are named. */
export function usualTargetModules(
  objective: Objective,
  adaptation: Adaptation = 'lora',
): (typeof loraTargetModules)[number][] {
  const hasHead = trainsHead(objective, adaptation);
  return loraTargetModules.filter((name) => hasHead || name !== 'lm_head');
}

/** Whether an adapter on the output layer can be trained: not where probabilities are compared, nor beside 4 bits. */
export function trainsHead(objective: Objective, adaptation: Adaptation): boolean {
  return objective === 'sft' && adaptation === 'lora';
}

/** What is said of noise where the base is compared with, which would be read with other noise. */
export function noiseWith(objective: Objective): string {
  return `NEFTune noise is for SFT: set it to 0 with ${objectiveNames[objective]}`;
}

/** What is said of the output layer where probabilities are compared, or the layers are in 4 bits. */
export function headWith(objective: Objective): string {
  return `lm_head cannot be trained with ${objective === 'sft' ? 'QLoRA' : objectiveNames[objective]}: leave it out`;
}

/** What is said of magnitudes where the weights that they are of are rounded to 4 bits. */
export const DORA_IN_4_BITS = 'DoRA is merged into weights that QLoRA does not train on: switch it off';

/** What is said of 4 bits, which are multiplied on GPUs, where there are none. */
export const QLORA_WITHOUT_GPU = 'QLoRA needs a GPU, and there is none here: choose LoRA';

/** What is said of a field of the adapter where there is none. */
export function adapterFieldWith(field: string): string {
  return `${field} is for LoRA: leave it out of a full fine-tune`;
}

/** What is said of packing where answers are compared or rated, each by itself. */
export function packingWith(objective: Objective): string {
  return `Packing is for SFT: switch it off with ${objectiveNames[objective]}`;
}

/** What is said of rewards where the data has the answers. */
export function rewardsWith(objective: Objective): string {
  return `Rewards are for GRPO: leave them out with ${objectiveNames[objective]}`;
}

export const NO_REWARD = 'GRPO learns from rewards: add at least one';
export const NO_ANSWERS = 'Prompts have no answers that SFT could learn: choose GRPO';
/** What is said of answers that leave no room for what they answer: both share a chunk. */
export const ANSWER_TOO_LONG =
  'Max answer tokens must be fewer than the max chunk size, which the prompt shares';

/** How many rewards a run may have, and how long a pattern or a schema may be. */
export const REWARDS_MAX = 8;
export const PATTERN_LENGTH_MAX = 1_000;
export const REWARD_SCHEMA_LENGTH_MAX = 32_768;

/** What an answer is paid by a reward; below 0 it costs. */
export const rewardWeight = {
  label: 'Reward weight',
  min: -100,
  max: 100,
  step: 0.1,
  default: 1,
} as const satisfies NumberField;

/** KTO measures how far the model has moved by answers to other questions: those of the same batch. */
export const KTO_BATCH_MIN = 2;
export const KTO_BATCH = `KTO compares the answers of a batch: its batch size must be at least ${KTO_BATCH_MIN}`;

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
  adaptation: 'lora',
  use_rslora: false,
  use_dora: false,
  packing: false,
  accelerator_type: 'NVIDIA_TESLA_A100',
  accelerator_count: 1,
} as const;
