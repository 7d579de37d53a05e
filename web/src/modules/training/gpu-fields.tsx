import { type GpuType, gpuCounts, gpuLabels, gpuTypes } from '@bakehouse/contract/limits';
import { Callout } from '../../ui/callout.tsx';
import { Field } from '../../ui/field.tsx';
import { Figure } from '../../ui/figure.tsx';
import { Segmented } from '../../ui/segmented.tsx';
import { Select } from '../../ui/select.tsx';
import { deviceName, gpusHere, useMachine } from '../machine/api.ts';
import type { Problems, TrainingParameters } from './create-model-wizard-state.ts';

type Props = {
  parameters: TrainingParameters;
  problems: Problems;
  onChange: (values: Partial<TrainingParameters>) => void;
};

/** Where the run goes: a choice of GPUs where this machine has any that the product lists, else what it has. */
export function GpuFields({ parameters, problems, onChange }: Props) {
  const machine = useMachine();
  const here = machine.data && gpusHere(machine.data);
  const all = machine.data?.accelerators ?? [];
  const chosen = parameters.accelerator_type;
  const missing = here && chosen && !here.has(chosen);
  const several = parameters.accelerator_count > 1 && (
    <Callout>A run uses one GPU of this machine, and you pay for one.</Callout>
  );
  const count = (
    <Field label="Number of GPUs" error={problems.accelerator_count}>
      <Segmented
        label="Number of GPUs"
        value={String(parameters.accelerator_count)}
        onChange={(value) => onChange({ accelerator_count: Number(value) })}
        options={gpuCounts.map((value) => ({ value: String(value), label: String(value) }))}
      />
    </Field>
  );
  if (here?.size === 0) {
    return (
      <div className="grid gap-5 sm:grid-cols-2">
        <dl>
          {all.length === 0 ? (
            <Figure label="Runs on" note="This machine has no GPU, so you pay the CPU price.">
              {deviceName('CPU')}
            </Figure>
          ) : (
            <Figure label="Runs on" note="If its memory is large enough; the next step shows where.">
              {all.map(({ label }) => label).join(' or ')}
            </Figure>
          )}
        </dl>
        {all.some((gpu) => gpu.count > 1) && count}
        {several}
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="GPU" error={problems.accelerator_type}>
          <Select<GpuType>
            value={chosen}
            onChange={(accelerator_type) => onChange({ accelerator_type })}
            options={gpuTypes.map((type) => ({
              value: type,
              label: gpuLabels[type],
              description:
                here && (here.has(type) ? `${here.get(type)} on this machine` : 'Not on this machine'),
            }))}
          />
        </Field>
        {count}
      </div>
      {missing && (
        <Callout>
          This machine has no {gpuLabels[chosen]}. The run goes to another GPU if one is large enough,
          otherwise to this machine's CPU. The next step shows which, and the price.
        </Callout>
      )}
      {several}
    </div>
  );
}
