import { defaultObjective } from '@bakehouse/contract/fine-tune-numbers';
import { Callout } from '../../../../ui/callout.tsx';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { FormFields } from '../../../../ui/form-fields.tsx';
import { SaveConfiguration } from '../../configurations/save-configuration.tsx';
import { ExpertPanels } from '../../parameters/expert-panels.tsx';
import { FormatFields } from '../../parameters/format-fields.tsx';
import { GpuFields } from '../../parameters/gpu-fields.tsx';
import { mainFields, objectiveFields, segmentationFields } from '../../parameters/parameter-fields.tsx';
import { PresetField } from '../../parameters/preset-field.tsx';
import { RewardFields } from '../../parameters/rewards/reward-fields.tsx';
import { valuesForAdaptation, valuesForObjective } from '../../parameters/suggested-parameters.ts';
import {
  differsFromDefaults,
  isTextFile,
  type TrainingParameters,
  usesParameter,
} from '../../parameters/training-parameters.ts';
import { useBasis } from '../../parameters/use-basis.ts';
import type { Wizard } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'validation' | 'dispatch'> };

/** Training parameters and hardware. */
export function StepParameters({ wizard: { state, problems, validation, dispatch } }: Props) {
  const { parameters, fileName } = state;
  const basis = useBasis(state);
  const onChange = (values: Partial<TrainingParameters>) => {
    const { objective, adaptation } = values;
    const also = objective
      ? valuesForObjective(objective, parameters, basis)
      : adaptation && valuesForAdaptation(adaptation, parameters, basis);
    dispatch({ do: 'parameters', values: { ...values, ...also } });
  };
  const shared = { values: parameters, problems, onChange };
  const segmentation = segmentationFields(parameters.objective).filter(({ name }) =>
    usesParameter(state.type, name),
  );
  const ofObjective = objectiveFields(parameters.objective, parameters.data_format);
  return (
    <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)] lg:gap-x-8">
      <div className="flex flex-col gap-6">
        <CriticalErrors errors={validation?.critical_errors ?? []} />
        {fileName && !isTextFile(fileName) && (
          <FormatFields
            state={state}
            problems={problems}
            onChange={onChange}
            onSuggest={(values) => dispatch({ do: 'suggest', values })}
          />
        )}

        {parameters.objective === 'grpo' && (
          <RewardFields
            rewards={parameters.rewards}
            problem={problems.rewards}
            onChange={(rewards) => onChange({ rewards })}
          />
        )}

        <PresetField parameters={parameters} basis={basis} onChange={onChange} />

        <FormFields fields={mainFields(parameters)} {...shared} />

        <GpuFields parameters={parameters} problems={problems} onChange={onChange} />
      </div>
      <div className="flex flex-col gap-6">
        <Disclosure title="Segmentation" defaultOpen={differsFromDefaults(parameters, 'segmentation')}>
          <FormFields fields={segmentation} {...shared} />
        </Disclosure>

        {defaultObjective(parameters.data_format) !== 'sft' && (
          <Disclosure
            title="Objective"
            defaultOpen={parameters.objective === 'sft' || differsFromDefaults(parameters, 'objective')}
            hasProblem={ofObjective.some(({ name }) => problems[name] !== undefined)}
          >
            <FormFields fields={ofObjective} {...shared} />
          </Disclosure>
        )}

        <ExpertPanels {...shared} />

        <SaveConfiguration choices={state} />
      </div>
    </div>
  );
}

function CriticalErrors({ errors }: { errors: readonly string[] }) {
  if (errors.length === 0) return null;
  return (
    <Callout tone="bad" title="Validation Failed">
      <ul className="list-disc pl-4">
        {errors.map((error) => (
          <li key={error}>{error}</li>
        ))}
      </ul>
    </Callout>
  );
}
