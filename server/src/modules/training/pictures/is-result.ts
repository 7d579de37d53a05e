import type { Workload } from '../../../engine/model/workload.ts';

/** Whether the LoRA of a checkpoint is what the run has made. Pure. */
export function isResult(
  { state, stepsTotal }: Pick<Workload, 'state' | 'stepsTotal'>,
  step: number,
): boolean {
  return state === 'completed' && step === stepsTotal;
}
