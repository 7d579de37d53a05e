import { type GpuType, gpuCounts, gpuLabels, gpuTypes } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { Fragment } from 'react';
import { Callout } from '../../../ui/callout.tsx';
import { Field } from '../../../ui/field.tsx';
import { Money } from '../../../ui/money.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { Select } from '../../../ui/select.tsx';
import { pricesQuery } from '../../billing/credit-queries.ts';
import { CpuHardware } from '../../machines/cpu-hardware.tsx';
import { describeAbsence, gpusHere } from '../../machines/devices.ts';
import { useMachine } from '../../machines/machine-queries.ts';
import { countObstacle } from './count-obstacle.ts';
import type { ParameterProblems } from './parameter-problems.ts';
import type { TrainingParameters } from './training-parameters.ts';

type Props = {
  parameters: TrainingParameters;
  problems: ParameterProblems;
  onChange: (values: Partial<TrainingParameters>) => void;
};

/** GPU type and count, with where the run will actually be placed. */
export function GpuFields({ parameters, problems, onChange }: Props) {
  const machine = useMachine();
  const here = machine.data && gpusHere(machine.data);
  const { accelerator_type: chosen, accelerator_count: count } = parameters;
  const price = usePriceOfHour();
  const gpuProblem = problems.accelerator_type ?? problems.accelerator_count;
  const isCpuOnly = machine.data?.accelerators.length === 0;
  const obstacle = (value: number) => countObstacle(value, parameters, machine.data?.accelerators ?? []);
  const refusal = obstacle(count) ?? undefined;
  const why = gpuCounts.map(obstacle).find((reason) => reason !== null && reason !== refusal);
  const fields = (
    <div className="flex flex-col gap-3">
      <div className="grid gap-5 sm:grid-cols-2">
        <Field label="GPU" error={problems.accelerator_type}>
          <Select<GpuType>
            value={chosen}
            onChange={(accelerator_type) => onChange({ accelerator_type })}
            placeholder="Choose a GPU"
            options={gpuTypes
              .filter((type) => !here?.size || here.has(type) || type === chosen)
              .map((type) => ({
                value: type,
                label: gpuLabels[type],
                description:
                  here && (here.has(type) ? `${here.get(type)} on this machine` : describeAbsence(type)),
              }))}
          />
        </Field>
        <Field
          label="Number of GPUs"
          error={problems.accelerator_count ?? refusal}
          help={`Splits the rows of each step across GPUs: faster, with the same result. ${why ?? ''}`.trim()}
        >
          <Segmented
            label="Number of GPUs"
            value={String(count)}
            onChange={(value) => onChange({ accelerator_count: Number(value) })}
            options={gpuCounts.map((value) => ({
              value: String(value),
              label: String(value),
              disabled: obstacle(value) !== null,
            }))}
          />
        </Field>
      </div>
      {chosen && !isCpuOnly && <Placement chosen={chosen} count={count} />}
    </div>
  );
  // An applied configuration may lack the GPU, which the server requires.
  if (!isCpuOnly || gpuProblem !== undefined) return fields;
  return <CpuHardware price={price('CPU') && <> at {price('CPU')} an hour</>} />;
}

/** Returns a function for a device's hourly price; undefined while unknown. */
function usePriceOfHour() {
  const prices = useQuery(pricesQuery);
  return (device: string) => {
    const price = prices.data?.prices.find(({ id }) => id === `training:${device}`);
    return price && <Money unrounded bgl={price.unit_price} />;
  };
}

/** Shows where a run with this GPU choice will actually run, and its price. */
function Placement({ chosen, count }: { chosen: GpuType; count: number }) {
  const machine = useMachine();
  const hour = usePriceOfHour();
  if (!machine.data || !hour('CPU')) return null;
  if (gpusHere(machine.data).has(chosen)) {
    return (
      <Callout>
        {count === 1 ? 'The run goes to this GPU, at ' : `The run goes to ${count} of these GPUs, each at `}
        {hour(chosen)} an hour.
      </Callout>
    );
  }
  const { accelerators } = machine.data;
  return (
    <Callout>
      This machine has no {gpuLabels[chosen]}, which costs {hour(chosen)} an hour. The run goes to its{' '}
      {accelerators.map(({ label, gpu_type }, index) => (
        <Fragment key={label}>
          {index > 0 && ' or '}
          {label}
          {gpu_type && hour(gpu_type) && <> at {hour(gpu_type)} an hour</>}
        </Fragment>
      ))}{' '}
      if that is large enough, otherwise to its CPU at {hour('CPU')} an hour. The next step shows which, and
      the price.
    </Callout>
  );
}
