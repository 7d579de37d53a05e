import { type Adaptation, objectiveNames, QLORA_WITHOUT_GPU } from '@bakehouse/contract/fine-tune-numbers';
import { gpuCounts, type Objective } from '@bakehouse/contract/limits';
import type { Capacity } from '../../../engine/model/capacity.ts';

type Asked = {
  count: number;
  objective: Objective;
  adaptation: Adaptation;
  use_dora?: boolean | undefined;
  batch_size: number;
  gradient_accumulation_steps: number;
};

/** Returns why a run cannot use this many GPUs. Without any GPU it goes to the CPU regardless. */
export function findGpuFaults(
  { count, objective, adaptation, use_dora, batch_size, gradient_accumulation_steps }: Asked,
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
    adaptation === 'qlora' && 'QLoRA trains on one GPU: choose 1',
    use_dora && 'DoRA trains on one GPU: choose 1',
    rows % count > 0 &&
      `${count} GPUs cannot share the ${rows} rows of a step (batch size x gradient accumulation): make it a multiple of ${count}`,
  ];
  return faults.flatMap((message) => (message ? [{ message, about: 'accelerator_count' }] : []));
}

/** Returns why a run cannot go to the CPU: 4-bit kernels need a GPU. */
export function findCpuFaults(
  { adaptation }: Pick<Asked, 'adaptation'>,
  { gpu }: { gpu: unknown },
  { gpus = [] }: Capacity,
): { message: string; about: 'adaptation' }[] {
  if (adaptation !== 'qlora' || gpu !== null) return [];
  const message =
    gpus.length === 0
      ? QLORA_WITHOUT_GPU
      : 'QLoRA needs a GPU, and none here is large enough: choose a smaller batch size, chunk size or base model';
  return [{ message, about: 'adaptation' }];
}
