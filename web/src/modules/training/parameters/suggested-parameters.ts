import { usualTargetModules } from '@bakehouse/contract/fine-tune-numbers';
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

/** Small: at which the starter model learns those facts. Large: QLoRA's for 7B and 13B. */
const LEARNING_RATES = { small: 0.001, large: 0.0002 };
/** DPO only shifts what the base can say. Small: the smol-course's for the starter model. Large: Zephyr's QLoRA's. */
const DPO_LEARNING_RATES = { small: 0.00005, large: 0.000005 };

/** What fits so many rows and a base of this size. Pure. */
export function suggestParameters({ rows, baseBytes }: Basis, objective: Objective = 'sft'): PresetValues {
  const rates = objective === 'dpo' ? DPO_LEARNING_RATES : LEARNING_RATES;
  return {
    epochs: suggestEpochs(rows),
    learning_rate: baseBytes < SMALL_BYTES ? rates.small : rates.large,
    // As PEFT's `all-linear`, and QLoRA.
    lora_target_modules: layerModules,
  };
}

function suggestEpochs(rows: number | null): number {
  if (rows === null) return 1;
  const fewest = Math.ceil(SEEN.min / Math.max(1, rows));
  const most = Math.max(1, Math.floor(SEEN.max / Math.max(1, rows)));
  return Math.min(Math.max(EPOCHS, fewest), EPOCHS_MAX, most);
}

/** The values of a preset; null where it is not known yet what it is for. */
export function presetValues(
  preset: Preset,
  basis: Basis | null,
  objective: Objective = 'sft',
): PresetValues | null {
  if (preset === 'suggested') return basis && suggestParameters(basis, objective);
  const { epochs, learning_rate } = initialParameters;
  return { epochs, learning_rate, lora_target_modules: usualTargetModules(objective) };
}

/** What changes with the objective: a preset stays the same preset, and what cannot be trained is left out. */
export function valuesWith(
  objective: Objective,
  parameters: TrainingParameters,
  basis: Basis | null,
): Partial<TrainingParameters> {
  const preset = presetOf(parameters, basis);
  const modules = parameters.lora_target_modules;
  const trainable = objective === 'dpo' ? modules.filter((name) => name !== 'lm_head') : modules;
  const values = preset && presetValues(preset, basis, objective);
  return { objective, ...(values ?? { lora_target_modules: trainable }) };
}

/** The preset whose values these are; null where they are the person's own. */
export function presetOf(parameters: TrainingParameters, basis: Basis | null): Preset | null {
  const isFrom = (preset: Preset) => {
    const values = presetValues(preset, basis, parameters.objective);
    return (
      values !== null &&
      values.epochs === parameters.epochs &&
      values.learning_rate === parameters.learning_rate &&
      String(values.lora_target_modules) === String(parameters.lora_target_modules)
    );
  };
  return (['suggested', 'specified'] as const).find(isFrom) ?? null;
}
