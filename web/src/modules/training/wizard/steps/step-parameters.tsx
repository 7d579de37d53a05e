import { Callout } from '../../../../ui/callout.tsx';
import { Disclosure } from '../../../../ui/disclosure.tsx';
import { FormFields } from '../../../../ui/form-fields.tsx';
import { SaveConfiguration } from '../../configurations/save-configuration.tsx';
import { ExpertPanels } from '../../parameters/expert-panels.tsx';
import { FormatFields } from '../../parameters/format-fields.tsx';
import { GpuFields } from '../../parameters/gpu-fields.tsx';
import { mainFields, objectiveFields, segmentationFields } from '../../parameters/parameter-fields.tsx';
import { PresetField } from '../../parameters/preset-field.tsx';
import { valuesWith } from '../../parameters/suggested-parameters.ts';
import {
  asksFor,
  differsFromDefaults,
  isTextFile,
  type TrainingParameters,
} from '../../parameters/training-parameters.ts';
import { useBasis } from '../../parameters/use-basis.ts';
import type { Wizard } from '../wizard-state.ts';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'validation' | 'dispatch'> };

/** How it is trained, and on what. */
export function StepParameters({ wizard: { state, problems, validation, dispatch } }: Props) {
  const criticalErrors = validation?.critical_errors ?? [];
  const { parameters, fileName } = state;
  const basis = useBasis(state);
  const onChange = (values: Partial<TrainingParameters>) => {
    const { objective } = values;
    const also = objective && valuesWith(objective, parameters, basis);
    dispatch({ do: 'parameters', values: { ...values, ...also } });
  };
  const shared = { values: parameters, problems, onChange };
  return (
    <div className="flex flex-col gap-6">
      {criticalErrors.length > 0 && (
        <Callout tone="bad" title="Validation Failed">
          <ul className="list-disc pl-4">
            {criticalErrors.map((error) => (
              <li key={error}>{error}</li>
            ))}
          </ul>
        </Callout>
      )}
      {fileName && !isTextFile(fileName) && (
        <FormatFields
          state={state}
          problems={problems}
          onChange={onChange}
          onSuggest={(values) => dispatch({ do: 'suggest', values })}
        />
      )}

      <PresetField parameters={parameters} basis={basis} onChange={onChange} />

      <FormFields fields={mainFields(parameters.objective)} {...shared} />

      <GpuFields parameters={parameters} problems={problems} onChange={onChange} />

      <Disclosure title="Segmentation" defaultOpen={differsFromDefaults(parameters, 'segmentation')}>
        <FormFields fields={segmentationFields.filter(({ name }) => asksFor(state.type, name))} {...shared} />
      </Disclosure>

      {parameters.data_format === 'preference' && (
        <Disclosure
          title="Objective"
          defaultOpen={parameters.objective === 'sft' || differsFromDefaults(parameters, 'objective')}
          hasProblem={Boolean(problems.beta ?? problems.sft_weight)}
        >
          <FormFields fields={objectiveFields(parameters.objective)} {...shared} />
        </Disclosure>
      )}

      <ExpertPanels {...shared} />

      <SaveConfiguration choices={state} />
    </div>
  );
}
