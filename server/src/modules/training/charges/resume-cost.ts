import type { Workload } from '../../../engine/model/workload.ts';
import { secondsSaved } from '../../../engine/seconds-saved.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

const HOUR_S = 3600;

type Run = Pick<
  RunRow,
  'kind' | 'price' | 'devices' | 'settledSeconds' | 'unpaidSeconds' | 'chargedMicro' | 'heldMicro'
>;

/** What is held for an ended run that goes on from its last checkpoint; null: it cannot. Pure. */
export function resumeCostMicro(run: Run & Pick<RunRow, 'base'>, workload: Workload): bigint | null {
  const isOver = workload.state === 'stopped' || workload.state === 'failed';
  // Without its base model it has done nothing.
  if (awaitsClone(run)) return null;
  // A half merged model is of no use: an export begins anew, as another run.
  if (!isOver || workload.filesRemovedAt || run.kind === 'export') return null;
  const { unpaidSeconds } = settleSeconds(run, secondsSaved(workload));
  return runCostMicro(run.price, unpaidSeconds + secondsLeft(workload), run.devices) || 1n;
}

/** What an ended run, which goes on with so many seconds of work, owes for them. Pure. */
export function unpaidMicro(run: Run, savedSeconds: number): bigint {
  return runCostMicro(run.price, settleSeconds(run, savedSeconds).unpaidSeconds, run.devices);
}

/**
 * What an ended round leaves to the next, which goes on with so many seconds of work. A round that failed is not charged,
 * but the next one begins with what was saved of it, and pays for that as far as its hold went: the house has given the
 * rest. What was charged once stays charged, also where a machine was lost since. Pure.
 */
export function settleSeconds(
  run: Run,
  savedSeconds: number,
): Pick<RunRow, 'settledSeconds' | 'unpaidSeconds'> {
  const settledSeconds = Math.max(run.settledSeconds, savedSeconds);
  const isCharged = (run.chargedMicro ?? 0n) > 0n;
  return {
    settledSeconds,
    unpaidSeconds: isCharged
      ? 0
      : Math.min(run.unpaidSeconds + settledSeconds - run.settledSeconds, secondsHeld(run)),
  };
}

/** How long a run works for what is held; 0 where its time is free. */
function secondsHeld({ heldMicro, price, devices }: Run): number {
  const hourMicro = Number(runCostMicro(price, HOUR_S, devices));
  return hourMicro === 0 ? 0 : (Number(heldMicro) / hourMicro) * HOUR_S;
}

/** The last evaluation and what comes with it take a while, also where no step is left. */
const LEAST_S = 60;

/** At the speed that it had; as estimated where it made no step. */
function secondsLeft({ step, stepsTotal, activeSeconds, expectedSeconds }: Workload): number {
  const hasPace = step > 0 && activeSeconds > 0;
  return Math.max(LEAST_S, hasPace ? (activeSeconds / step) * (stepsTotal - step) : (expectedSeconds ?? 0));
}
