import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

/**
 * What this round of a run costs, once the run has worked for so many seconds in all: from its first second on also what
 * earlier rounds have kept and nobody has paid. A completed round pays for that in any case, also where the last step was done
 * before it, or was done again. Where a machine was lost with work that an earlier round has settled, that is
 * done again for nothing. Pure.
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
