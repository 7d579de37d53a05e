import { objectiveNames } from '@bakehouse/contract/fine-tune-numbers';
import { Segmented } from '../../../ui/segmented.tsx';
import { type Basis, type Preset, presetOf, presetValues } from './suggested-parameters.ts';
import type { TrainingParameters } from './training-parameters.ts';

type Props = {
  parameters: TrainingParameters;
  basis: Basis | null;
  onChange: (values: Partial<TrainingParameters>) => void;
};

/** Sets epochs, learning rate and target modules, to suggested values or to the standard defaults. */
export function PresetField({ parameters, basis, onChange }: Props) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-xl bg-subtle px-4 py-3">
      <p className="text-muted">
        Suggested values fit your rows and base model.
        {parameters.adaptation === 'full' &&
          ' Each step changes every weight by about the learning rate, so it is lower than with LoRA.'}
        {parameters.objective !== 'sft' &&
          ` ${objectiveNames[parameters.objective]} only makes some answers of the base model more likely than others, so its learning rate is lower.`}
      </p>
      <Segmented<Preset>
        label="Preset"
        value={presetOf(parameters, basis)}
        onChange={(preset) =>
          onChange(presetValues(preset, basis, parameters.objective, parameters.adaptation) ?? {})
        }
        options={[
          { value: 'suggested', label: 'Suggested', disabled: basis === null },
          { value: 'specified', label: 'API defaults', disabled: parameters.adaptation === 'full' },
        ]}
      />
    </div>
  );
}
