import { QLORA_WITHOUT_GPU } from '@bakehouse/contract/fine-tune-numbers';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { FormFields } from '../../../ui/form-fields.tsx';
import { useMachine } from '../../machines/machine-queries.ts';
import { adaptationFields, evaluationFields, loraFields, optimizerFields } from './parameter-fields.tsx';
import type { ParameterProblems } from './parameter-problems.ts';
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
