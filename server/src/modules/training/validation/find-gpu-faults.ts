import { type Adaptation, objectiveNames } from '@bakehouse/contract/fine-tune-numbers';
import { gpuCounts, type Objective } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';

type Asked = {
  count: number;
  objective: Objective;
  adaptation: Adaptation;
  batch_size: number;
  gradient_accumulation_steps: number;
};

/** Why a run cannot have so many GPUs. Where there are none it goes to the CPU, whatever it asks for. Pure. */
export function findGpuFaults(
  { count, objective, adaptation, batch_size, gradient_accumulation_steps }: Asked,
  { gpus = [] }: Capacity,
): { message: string; about: 'accelerator_count' }[] {
  if (count === 1 || gpus.length === 0) return [];
  const most = Math.max(...gpus.map(({ devices }) => devices.length));
  const rows = batch_size * gradient_accumulation_steps;
  const faults = [
    count > most &&
      `No machine here has ${count} GPUs of one kind: choose ${gpuCounts.filter((one) => one <= most).join(' or ')}`,
    objective !== 'sft' && `${objectiveNames[objective]} trains on one GPU: choose 1`,
    adaptation === 'full' && 'Full fine-tuning trains on one GPU: choose 1',
    rows % count > 0 &&
      `${count} GPUs cannot share the ${rows} rows of a step (batch size x gradient accumulation): make it a multiple of ${count}`,
  ];
  return faults.flatMap((message) => (message ? [{ message, about: 'accelerator_count' }] : []));
}
