import {
  type GpuCount,
  gpuCounts,
  gpuLabels,
  type InstanceType,
  instanceGpus,
  instanceTypes,
} from '@bakehouse/contract/limits';
import { Field } from '../../../ui/field.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { Select } from '../../../ui/select.tsx';
import { CpuHardware } from '../../machines/cpu-hardware.tsx';
import { describeAbsence } from '../../machines/devices.ts';
import { useMachine } from '../../machines/machine-queries.ts';
import type { Family } from '../kinds.ts';

/** `gpuCount` defaults to 1. */
export type Gpus = { instanceType: InstanceType; gpuCount?: GpuCount };

type Props = { family: Family; value: Gpus; onChange: (value: Gpus) => void };

/**
 * The GPU type, and the count if one machine has several; image models use one GPU. CPU-only machines
 * offer none.
 */
export function GpuField({ family, value, onChange }: Props) {
  const { data: machine } = useMachine();
  if (!machine) return null;
  const here = new Map(machine.accelerators.map(({ gpu_type, count }) => [gpu_type, count]));
  if (machine.accelerators.length === 0) return <CpuHardware />;
  const most = family === 'text' ? (here.get(instanceGpus[value.instanceType]) ?? 1) : 1;
  const type = (
    <Field label="GPU" help="If it isn’t available, another GPU with enough memory is used.">
      <Select
        value={value.instanceType}
        // Other types may have fewer GPUs: reset the count.
        onChange={(instanceType) => onChange({ instanceType })}
        options={instanceTypes.map((one) => ({
          value: one,
          label: gpuLabels[instanceGpus[one]],
          description: here.has(instanceGpus[one]) ? undefined : describeAbsence(instanceGpus[one]),
        }))}
      />
    </Field>
  );
  return (
    <>
      {type}
      {most > 1 && (
        <CountField
          most={most}
          value={value.gpuCount ?? 1}
          onChange={(gpuCount) => onChange({ ...value, gpuCount })}
        />
      )}
    </>
  );
}

type CountProps = { most: number; value: GpuCount; onChange: (value: GpuCount) => void };

function CountField({ most, value, onChange }: CountProps) {
  const options = gpuCounts.filter((count) => count <= most);
  return (
    <Field label="Number of GPUs" help="For a model that does not fit on one GPU. Each GPU is charged.">
      <Segmented
        label="Number of GPUs"
        value={String(value)}
        onChange={(chosen) => onChange(options.find((count) => String(count) === chosen) ?? 1)}
        options={options.map((count) => ({ value: String(count), label: String(count) }))}
      />
    </Field>
  );
}
