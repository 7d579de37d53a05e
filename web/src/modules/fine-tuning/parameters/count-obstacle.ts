import type { Adaptation } from '@bakehouse/contract/fine-tune-numbers';
import type { GpuType } from '@bakehouse/contract/limits';

type Asked = {
  accelerator_type: GpuType | null;
  adaptation: Adaptation;
  use_dora: boolean;
  batch_size: number;
  gradient_accumulation_steps: number;
};

/**
 * Returns why a run can't use this many GPUs; null if it can, or without GPUs, because it then uses the CPU.
 * The limit is the most GPUs of the chosen type in one machine; of any type, if no machine has that type.
 */
export function countObstacle(
  count: number,
  { accelerator_type: type, adaptation, use_dora, batch_size, gradient_accumulation_steps }: Asked,
  here: { gpu_type: string; count: number }[],
): string | null {
  if (count === 1 || here.length === 0) return null;
  if (adaptation === 'full') return 'Full fine-tuning trains on one GPU.';
  if (adaptation === 'qlora') return 'QLoRA trains on one GPU.';
  if (adaptation === 'lora' && use_dora) return 'DoRA trains on one GPU.';
  const chosen = here.filter(({ gpu_type }) => gpu_type === type);
  const [candidates, kind] = chosen.length > 0 ? [chosen, 'this'] : [here, 'one'];
  if (candidates.every((one) => one.count < count)) {
    return `No machine here has ${count} GPUs of ${kind} kind.`;
  }
  const rows = batch_size * gradient_accumulation_steps;
  if (rows % count === 0) return null;
  return `${count} GPUs cannot share the ${rows} rows of a step (batch size x gradient accumulation).`;
}
