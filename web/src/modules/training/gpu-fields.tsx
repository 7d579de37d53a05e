import { type GpuType, gpuCounts, gpuLabels, gpuTypes } from '@bakehouse/contract/limits';
import { Callout } from '../../ui/callout.tsx';
import { Field } from '../../ui/field.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Select } from '../../ui/select.tsx';
import { useMachine } from '../machine/api.ts';
import type { Problems, TrainingParameters } from './create-model-wizard-state.ts';

type Props = {
  parameters: TrainingParameters;
  problems: Problems;
  onChange: (values: Partial<TrainingParameters>) => void;
};

/** The GPU, and a word on where the run really goes on this machine. */
export function GpuFields({ parameters, problems, onChange }: Props) {
  const machine = useMachine();
  const chosen = parameters.accelerator_type;
  const there = machine.data?.accelerators.find((one) => one.gpu_type === chosen);
  const missing = machine.data && chosen && (!there || there.count < parameters.accelerator_count);
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="GPU" error={problems.accelerator_type}>
          <Select<GpuType>
            value={chosen}
            onChange={(accelerator_type) => onChange({ accelerator_type })}
            options={gpuTypes.map((type) => ({ value: type, label: gpuLabels[type] }))}
          />
        </Field>
        <Field label="Number of GPUs" error={problems.accelerator_count}>
          <Segmented
            label="Number of GPUs"
            value={String(parameters.accelerator_count)}
            onChange={(count) => onChange({ accelerator_count: Number(count) })}
            options={gpuCounts.map((count) => ({ value: String(count), label: String(count) }))}
          />
        </Field>
      </div>
      {missing && (
        <Callout>
          This machine has no {parameters.accelerator_count > 1 && `${parameters.accelerator_count} × `}
          {gpuLabels[chosen]}. The run will go to this machine's CPU, and costs what the CPU costs.
        </Callout>
      )}
    </div>
  );
}
