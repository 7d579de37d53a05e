import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

/**
 * What this round of a run costs, once the run has worked for so many seconds in all. Where a machine was lost with
 * work that an earlier round has charged, that is done again for nothing. Pure.
 */
export function roundCostMicro(
  run: Pick<RunRow, 'price' | 'devices' | 'settledSeconds'>,
  activeSeconds: number,
): bigint {
  return runCostMicro(run.price, Math.max(0, activeSeconds - run.settledSeconds), run.devices);
}
