import { type GpuCount, gpuCounts, type InstanceType, instanceGpus } from '@bakehouse/contract/limits';
import { useState } from 'react';
import { Field } from '../../../ui/field.tsx';
import { Segmented } from '../../../ui/segmented.tsx';
import { useMachine } from '../../machines/machine-queries.ts';
import type { Family } from '../kinds.ts';

/** How many GPUs serve the model, and how many of that type one machine has: an image model is served on one. */
export function useGpuCount(family: Family, instanceType: InstanceType) {
  const { data: machine } = useMachine();
  const [wanted, setGpuCount] = useState<GpuCount>(1);
  const found = machine?.accelerators.find(({ gpu_type }) => gpu_type === instanceGpus[instanceType]);
  const most = family === 'text' ? (found?.count ?? 1) : 1;
  return { most, gpuCount: wanted <= most ? wanted : 1, setGpuCount } as const;
}

type Props = { most: number; value: GpuCount; onChange: (value: GpuCount) => void };

/** Where one machine has several GPUs of the type. */
export function GpuCountField({ most, value, onChange }: Props) {
  const options = gpuCounts.filter((count) => count <= most);
  return (
    <Field
      label="Number of GPUs"
      help="Several hold a model that one has no memory for. Each costs its hour."
    >
      <Segmented
        label="Number of GPUs"
        value={String(value)}
        onChange={(chosen) => onChange(options.find((count) => String(count) === chosen) ?? 1)}
        options={options.map((count) => ({ value: String(count), label: String(count) }))}
      />
    </Field>
  );
}
