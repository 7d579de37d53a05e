import type { Workload } from '../../../engine/model/workload.ts';

/** True if the checkpoint is the run's final result. */
export function isResult(
  { state, stepsTotal }: Pick<Workload, 'state' | 'stepsTotal'>,
  step: number,
): boolean {
  return state === 'completed' && step === stepsTotal;
}
