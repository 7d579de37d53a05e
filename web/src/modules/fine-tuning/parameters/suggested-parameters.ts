import {
  type Adaptation,
  defaultTargetModules,
  KTO_BATCH_MIN,
  trainsHead,
} from '@bakehouse/contract/fine-tune-numbers';
import type { Objective } from '@bakehouse/contract/limits';
import { initialParameters, layerModules, type TrainingParameters } from './training-parameters.ts';

/* Suggests training parameters, because the standard defaults fit neither small models nor few rows. */

export type Preset = 'suggested' | 'specified';

type PresetValues = Pick<TrainingParameters, 'epochs' | 'learning_rate' | 'lora_target_modules'>;

export type Basis = {
  /** Rows of the data file; null if it is too large to count. */
  rows: number | null;
  /** Size of the base model's files. */
  baseBytes: number;
};

/**
 * Like OpenAI's `auto`: three epochs, but at least `min` rows seen in total. OpenAI's minimum is 100; ours is
 * higher, because the starter model needs 800 rows to learn the example's facts by heart
 * (`scripts/client/fine-tune.ts`).
 */
const EPOCHS = 3;
const EPOCHS_MAX = 10;
const SEEN = { min: 300, max: 25_000 };

/** One billion 16-bit parameters. */
const SMALL_BYTES = 2_000_000_000;

/**
 * Sources of the rates. The objectives other than SFT only reweight the base model's answers.
 * - SFT: small, the rate at which the starter model learns those facts; large, QLoRA's rate for 7B and 13B.
 * - DPO: small, the smol-course's rate for the starter model; large, Zephyr's QLoRA rate.
 * - KTO: small, the rate at which the starter model separates the example's good and bad answers; large,
 * LLaMA-Factory's rate for 8B.
 * - GRPO: small, as for KTO; large, ten times the usual rate of full fine-tuning.
 */
const LEARNING_RATES: Record<Objective, { small: number; large: number }> = {
  sft: { small: 0.001, large: 0.0002 },
  dpo: { small: 0.00005, large: 0.000005 },
  kto: { small: 0.0001, large: 0.000005 },
  grpo: { small: 0.0001, large: 0.00001 },
};
/**
 * Rates for full fine-tuning: a tenth of an adapter's or less, because each step moves every weight by about
 * the rate, and there are a hundred times as many.
 * Sources:
 * - SFT: large, Llama 2's and Zephyr's; small, the upper end of the usual range, because small models
 * tolerate and need more.
 * - Other objectives: small, SmolLM2's DPO rate; large, Zephyr's.
 */
const FULL_LEARNING_RATES: typeof LEARNING_RATES = {
  sft: { small: 0.00005, large: 0.00002 },
  dpo: { small: 0.000001, large: 0.0000005 },
  kto: { small: 0.000001, large: 0.0000005 },
  grpo: { small: 0.000001, large: 0.0000005 },
};
/** KTO compares the rows of a batch, so a batch has all four rows that a default step accumulates. */
const KTO_BATCH = { batch_size: 4, gradient_accumulation_steps: 1 };

/** Returns suggested values for the number of rows and the size of the base model. */
export function suggestParameters(
  { rows, baseBytes }: Basis,
  objective: Objective = 'sft',
  adaptation: Adaptation = 'lora',
): PresetValues {
  const rates = ratesOf(objective, adaptation);
  return {
    // GRPO samples several new answers per row in each epoch.
    epochs:
      objective === 'grpo' && rows !== null ? Math.min(EPOCHS, suggestEpochs(rows)) : suggestEpochs(rows),
    learning_rate: baseBytes < SMALL_BYTES ? rates.small : rates.large,
    // As in PEFT's `all-linear` and QLoRA.
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

/** Returns a preset's values; null if the basis is not loaded, or for 'specified' with a full fine-tune. */
export function presetValues(
  preset: Preset,
  basis: Basis | null,
  objective: Objective = 'sft',
  adaptation: Adaptation = 'lora',
): PresetValues | null {
  if (preset === 'suggested') return basis && suggestParameters(basis, objective, adaptation);
  if (adaptation === 'full') return null;
  const { epochs, learning_rate } = initialParameters;
  return { epochs, learning_rate, lora_target_modules: defaultTargetModules(objective, adaptation) };
}

/** Returns the values that change with the objective. Keeps the preset, without untrainable modules. */
export function valuesForObjective(
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

/** Returns true if the batch size is KTO's default. */
function isKtoBatch({ objective, ...parameters }: TrainingParameters): boolean {
  const { batch_size, gradient_accumulation_steps } = KTO_BATCH;
  return (
    objective === 'kto' &&
    parameters.batch_size === batch_size &&
    parameters.gradient_accumulation_steps === gradient_accumulation_steps
  );
}

/**
 * Returns the values that change with the adaptation. Keeps only custom values: the standard defaults are for
 * adapters and would ruin a full fine-tune.
 */
export function valuesForAdaptation(
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

/** Returns the chosen modules without those that can't be trained with these settings. */
function trainableModules(
  { lora_target_modules: modules }: TrainingParameters,
  objective: Objective,
  adaptation: Adaptation,
): TrainingParameters['lora_target_modules'] {
  const hasHead = trainsHead(objective, adaptation);
  return modules.filter((name) => hasHead || name !== 'lm_head');
}

/** Returns the preset that these values match; null for custom values. */
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
