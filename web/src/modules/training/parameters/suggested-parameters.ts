import {
  type Adaptation,
  KTO_BATCH_MIN,
  trainsHead,
  usualTargetModules,
} from '@bakehouse/contract/fine-tune-numbers';
import type { Objective } from '@bakehouse/contract/limits';
import { initialParameters, layerModules, type TrainingParameters } from './training-parameters.ts';

/*
 * What is suggested for a fine-tune, beside the specified defaults, which suit neither a small model nor few rows.
 */

export type Preset = 'suggested' | 'specified';

type PresetValues = Pick<TrainingParameters, 'epochs' | 'learning_rate' | 'lora_target_modules'>;

export type Basis = {
  /** Of the data file; null where it is too large to count. */
  rows: number | null;
  /** Size of the base model's files. */
  baseBytes: number;
};

/**
 * OpenAI's `auto`: three passes, but so many rows seen in all of them, of which its least is 100. Ours is higher: the starter
 * model knows the example's facts by heart after 800 (`scripts/client/fine-tune.ts`).
 */
const EPOCHS = 3;
const EPOCHS_MAX = 10;
const SEEN = { min: 300, max: 25_000 };

/** A billion parameters of 16 bits. */
const SMALL_BYTES = 2_000_000_000;

/**
 * Of SFT, small: at which the starter model learns those facts; large: QLoRA's for 7B and 13B. The others only shift what the base can
 * say. Of DPO, small: the smol-course's for the starter model; large: Zephyr's QLoRA's. Of KTO, small: at which the starter tells the
 * example's good answers from its bad ones; large: LLaMA-Factory's for 8B. Of GRPO, small: as of KTO; large: ten times what is usual
 * without an adapter.
 */
const LEARNING_RATES: Record<Objective, { small: number; large: number }> = {
  sft: { small: 0.001, large: 0.0002 },
  dpo: { small: 0.00005, large: 0.000005 },
  kto: { small: 0.0001, large: 0.000005 },
  grpo: { small: 0.0001, large: 0.00001 },
};
/**
 * Where all weights are trained. Every step moves each of them by about the rate, and there are a hundred times as many: the
 * rates are a tenth of an adapter's and less. Of SFT, large: Llama 2's and Zephyr's; small: the upper end of what is usual, since
 * small models bear and need more. Of the others, small: that of SmolLM2's own DPO; large: Zephyr's.
 */
const FULL_LEARNING_RATES: typeof LEARNING_RATES = {
  sft: { small: 0.00005, large: 0.00002 },
  dpo: { small: 0.000001, large: 0.0000005 },
  kto: { small: 0.000001, large: 0.0000005 },
  grpo: { small: 0.000001, large: 0.0000005 },
};
/** Rows of a batch, whose answers KTO compares; as many as a step has by default. */
const KTO_BATCH = { batch_size: 4, gradient_accumulation_steps: 1 };

/** What fits so many rows and a base of this size. Pure. */
export function suggestParameters(
  { rows, baseBytes }: Basis,
  objective: Objective = 'sft',
  adaptation: Adaptation = 'lora',
): PresetValues {
  const rates = ratesOf(objective, adaptation);
  return {
    // Of each row GRPO sees several answers in each epoch, which are others each time.
    epochs:
      objective === 'grpo' && rows !== null ? Math.min(EPOCHS, suggestEpochs(rows)) : suggestEpochs(rows),
    learning_rate: baseBytes < SMALL_BYTES ? rates.small : rates.large,
    // As PEFT's `all-linear`, and QLoRA.
    lora_target_modules: layerModules,
  };
}

function ratesOf(objective: Objective, adaptation: Adaptation) {
  return (adaptation === 'full' ? FULL_LEARNING_RATES : LEARNING_RATES)[objective];
}

function suggestEpochs(rows: number | null): number {
  if (rows === null) return 1;
  const fewest = Math.ceil(SEEN.min / Math.max(1, rows));
  const most = Math.max(1, Math.floor(SEEN.max / Math.max(1, rows)));
  return Math.min(Math.max(EPOCHS, fewest), EPOCHS_MAX, most);
}

/** The values of a preset; null where it is not known yet what it is for, and where nothing is specified. */
export function presetValues(
  preset: Preset,
  basis: Basis | null,
  objective: Objective = 'sft',
  adaptation: Adaptation = 'lora',
): PresetValues | null {
  if (preset === 'suggested') return basis && suggestParameters(basis, objective, adaptation);
  if (adaptation === 'full') return null;
  const { epochs, learning_rate } = initialParameters;
  return { epochs, learning_rate, lora_target_modules: usualTargetModules(objective, adaptation) };
}

/** What changes with the objective: a preset stays the same preset, and what cannot be trained is left out. */
export function valuesWith(
  objective: Objective,
  parameters: TrainingParameters,
  basis: Basis | null,
): Partial<TrainingParameters> {
  const preset = presetOf(parameters, basis);
  const { adaptation } = parameters;
  const modules = trainableModules(parameters, objective, adaptation);
  const { batch_size, gradient_accumulation_steps } = initialParameters;
  const values = preset && presetValues(preset, basis, objective, adaptation);
  return {
    objective,
    ...(values ?? { lora_target_modules: modules }),
    ...(objective === 'kto' && parameters.batch_size < KTO_BATCH_MIN && KTO_BATCH),
    ...(objective !== 'kto' && isKtoBatch(parameters) && { batch_size, gradient_accumulation_steps }),
  };
}

/** Whether the batch is the one that KTO has brought. */
function isKtoBatch({ objective, ...parameters }: TrainingParameters): boolean {
  const { batch_size, gradient_accumulation_steps } = KTO_BATCH;
  return (
    objective === 'kto' &&
    parameters.batch_size === batch_size &&
    parameters.gradient_accumulation_steps === gradient_accumulation_steps
  );
}

/**
 * What changes with what is trained of the base. What is specified is of adapters, and would spoil a base all of whose weights are trained:
 * only a person's own values stay.
 */
export function valuesWithAdaptation(
  adaptation: Adaptation,
  parameters: TrainingParameters,
  basis: Basis | null,
): Partial<TrainingParameters> {
  const preset = presetOf(parameters, basis);
  const { objective, learning_rate } = parameters;
  const values = preset && presetValues('suggested', basis, objective, adaptation);
  if (values) return { adaptation, ...values };
  const isAdapters = adaptation === 'full' && learning_rate === initialParameters.learning_rate;
  return {
    adaptation,
    ...(adaptation === 'qlora' && {
      lora_target_modules: trainableModules(parameters, objective, adaptation),
    }),
    ...(isAdapters && { learning_rate: ratesOf(objective, 'full').large }),
  };
}

/** The chosen modules without the one that cannot be trained so. */
function trainableModules(
  { lora_target_modules: modules }: TrainingParameters,
  objective: Objective,
  adaptation: Adaptation,
): TrainingParameters['lora_target_modules'] {
  const hasHead = trainsHead(objective, adaptation);
  return modules.filter((name) => hasHead || name !== 'lm_head');
}

/** The preset whose values these are; null where they are the person's own. */
export function presetOf(parameters: TrainingParameters, basis: Basis | null): Preset | null {
  const isFrom = (preset: Preset) => {
    const values = presetValues(preset, basis, parameters.objective, parameters.adaptation);
    return (
      values !== null &&
      values.epochs === parameters.epochs &&
      values.learning_rate === parameters.learning_rate &&
      String(values.lora_target_modules) === String(parameters.lora_target_modules)
    );
  };
  return (['suggested', 'specified'] as const).find(isFrom) ?? null;
}
