import { objectiveNames, QLORA_WITHOUT_GPU } from '@bakehouse/contract/fine-tune-numbers';
import { isPositiveBgl, parseBgl } from '@bakehouse/contract/money';
import { currencyChoice, showApart, showLimit } from '../../../lib/format/currency.ts';
import { AmountField } from '../../../ui/amount-field.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { FormFields } from '../../../ui/form-fields.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { useMachine } from '../../machines/machine-queries.ts';
import { adaptationFields, evaluationFields, loraFields, optimizerFields } from './parameter-fields.tsx';
import type { ParameterProblems } from './parameter-problems.ts';
import { type Basis, type Preset, presetOf, presetValues } from './suggested-parameters.ts';
import { differsFromDefaults, type TrainingParameters } from './training-parameters.ts';

type Props = {
  values: TrainingParameters;
  problems: ParameterProblems;
  onChange: (values: Partial<TrainingParameters>) => void;
};

/** Advanced settings, collapsed unless they differ from the defaults. */
export function ExpertPanels({ values, problems: found, onChange }: Props) {
  const hasNoGpu = useMachine().data?.accelerators.length === 0;
  const refusal = values.adaptation === 'qlora' && hasNoGpu ? QLORA_WITHOUT_GPU : undefined;
  const problems = refusal ? { ...found, adaptation: refusal } : found;
  const panels = [
    { panel: 'optimizer', title: 'Optimizer', fields: optimizerFields(values.objective) },
    { panel: 'evaluation', title: 'Evaluation', fields: evaluationFields },
    { panel: 'adaptation', title: 'Adaptation', fields: adaptationFields },
    { panel: 'lora', title: 'LoRA', fields: loraFields(values) },
  ] as const;
  const asked = panels.filter(({ panel }) => panel !== 'lora' || values.adaptation !== 'full');
  return asked.map(({ panel, title, fields }) => (
    <Disclosure
      key={panel}
      title={title}
      defaultOpen={differsFromDefaults(values, panel)}
      hasProblem={fields.some(({ name }) => problems[name] !== undefined)}
    >
      <FormFields fields={fields} values={values} problems={problems} onChange={onChange} />
    </Disclosure>
  ));
}

type PresetFieldProps = {
  parameters: TrainingParameters;
  basis: Basis | null;
  onChange: (values: Partial<TrainingParameters>) => void;
};

/**
 * Sets epochs, learning rate and target modules: either suggested for the data and base model, or specified.
 */
export function PresetField({ parameters, basis, onChange }: PresetFieldProps) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-3 rounded-xl bg-subtle px-4 py-3">
      <p className="text-muted">
        Suggested values fit your rows and base model.
        {parameters.adaptation === 'full' &&
          ' Each step changes every weight by about the learning rate, so it is lower than with LoRA.'}
        {parameters.objective !== 'sft' &&
          ` ${objectiveNames[parameters.objective]} only shifts what the model can already say, so its learning rate is lower.`}
      </p>
      <Segmented<Preset>
        label="Preset"
        value={presetOf(parameters, basis)}
        onChange={(preset) =>
          onChange(presetValues(preset, basis, parameters.objective, parameters.adaptation) ?? {})
        }
        options={[
          { value: 'suggested', label: 'Suggested', disabled: basis === null },
          { value: 'specified', label: 'As specified', disabled: parameters.adaptation === 'full' },
        ]}
      />
    </div>
  );
}

type CeilingFieldProps = {
  /** In BGL; empty for the default. Invalid text is kept as typed. */
  value: string;
  /** The default ceiling, in BGL. */
  usual: string;
  /** Expected cost of the run, in BGL; a lower ceiling shows a warning. */
  expected?: string;
  /** The run is being resumed: a typed ceiling stops it. */
  resumes?: boolean;
  error?: string | undefined;
  onChange: (value: string) => void;
  className?: string;
};

/** The maximum cost of a run, typed in the display currency. */
export function CeilingField({ usual, expected = '0', resumes = false, ...field }: CeilingFieldProps) {
  const currency = currencyChoice.use();
  const isTooLow = isPositiveBgl(field.value) && parseBgl(field.value) < parseBgl(expected);
  return (
    <AmountField
      label="Ceiling"
      placeholder={showLimit(usual, currency)}
      help={
        isTooLow ? (
          <span role="status" className="text-warn">
            This is less than the {showApart(expected, field.value, currency)[0]} that the run is expected to
            cost. It will probably save its work and stop before it finishes.
          </span>
        ) : field.value === '' ? (
          'The most you pay. A run that needs more still finishes, unless it takes four times as long as estimated: then it saves its work, stops and costs the estimate.'
        ) : resumes ? (
          'The most you pay, including the cost so far. At this ceiling the run saves its work and stops.'
        ) : (
          'The most you pay. A run that needs more continues at no extra cost up to twice this amount, then saves its work and stops.'
        )
      }
      {...field}
    />
  );
}
