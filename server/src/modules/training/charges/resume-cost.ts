import type { Workload } from '../../../engine/workload.ts';
import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

/** What is held for an ended run that goes on from its last checkpoint; null: it cannot. Pure. */
export function resumeCostMicro(run: Pick<RunRow, 'price' | 'devices'>, workload: Workload): bigint | null {
  const isOver = workload.state === 'stopped' || workload.state === 'failed';
  if (!isOver || workload.filesRemovedAt) return null;
  return runCostMicro(run.price, secondsLeft(workload), run.devices) || 1n;
}

/** At the speed that it had; as estimated where it made no step. */
function secondsLeft({ step, stepsTotal, activeSeconds, expectedSeconds }: Workload): number {
  if (step === 0 || activeSeconds === 0) return expectedSeconds ?? 0;
  return (activeSeconds / step) * Math.max(0, stepsTotal - step);
}
