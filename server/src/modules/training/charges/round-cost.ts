import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

/**
 * What this round of a run costs, once the run has worked for so many seconds in all: from its first second on also what
 * earlier rounds have kept and nobody has paid. Where a machine was lost with work that an earlier round has settled, that is
 * done again for nothing. Pure.
 */
export function roundCostMicro(
  run: Pick<RunRow, 'price' | 'devices' | 'settledSeconds' | 'unpaidSeconds'>,
  activeSeconds: number,
): bigint {
  const own = activeSeconds - run.settledSeconds;
  return runCostMicro(run.price, own > 0 ? run.unpaidSeconds + own : 0, run.devices);
}
