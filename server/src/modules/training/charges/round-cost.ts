import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

/**
 * Returns the cost of this round, given the run's total seconds of work. It includes earlier rounds' saved
 * but unpaid work from the first second on; a completed round always pays for it. Work that was settled and
 * then lost with its machine is repeated for free.
 */
export function roundCostMicro(
  run: Pick<RunRow, 'price' | 'devices' | 'settledSeconds' | 'unpaidSeconds'>,
  activeSeconds: number,
  isCompleted = false,
): bigint {
  const own = Math.max(0, activeSeconds - run.settledSeconds);
  const unpaid = own > 0 || isCompleted ? run.unpaidSeconds : 0;
  return runCostMicro(run.price, unpaid + own, run.devices);
}
