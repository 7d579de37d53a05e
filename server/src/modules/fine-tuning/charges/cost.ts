import type { Workload } from '../../../engine/model/workload.ts';
import { secondsSaved } from '../../../engine/workloads.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

const HOUR_S = 3600;

/** Minimum estimate of the remaining time, e.g. for the last evaluation if no step remains. */
const LEAST_S = 60;

type Run = Pick<
  RunRow,
  'kind' | 'price' | 'devices' | 'settledSeconds' | 'unpaidSeconds' | 'chargedMicro' | 'heldMicro'
>;

/** Returns what an ended run owes for its saved work, given the seconds of that work. */
export function unpaidMicro(run: Run, savedSeconds: number): bigint {
  return runCostMicro(run.price, settleSeconds(run, savedSeconds).unpaidSeconds, run.devices);
}

/**
 * Returns the seconds that an ended round leaves to the next round, which continues with `savedSeconds` of
 * work. A failed round is not charged. Its saved work is paid by the next round, but only up to the failed
 * round's hold; work beyond that is free. Charged work stays charged, even if it was lost with its machine.
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

/** Returns how many seconds the hold pays for; 0 if the price is zero. */
function secondsHeld({ heldMicro, price, devices }: Run): number {
  const hourMicro = Number(runCostMicro(price, HOUR_S, devices));
  return hourMicro === 0 ? 0 : (Number(heldMicro) / hourMicro) * HOUR_S;
}

/** Estimates the remaining seconds by the run's measured speed, or by the estimate if no step is done. */
function secondsLeft({ step, stepsTotal, activeSeconds, expectedSeconds }: Workload): number {
  const hasPace = step > 0 && activeSeconds > 0;
  return Math.max(LEAST_S, hasPace ? (activeSeconds / step) * (stepsTotal - step) : (expectedSeconds ?? 0));
}

/**
 * Returns the cost of this round, given the seconds of work of all rounds together. As soon as the round has
 * done new work, or is completed, it also pays for saved work that earlier rounds did not pay. Work that was
 * paid and then lost with its machine is repeated for free.
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

/**
 * Returns the amount to hold for resuming an ended run from its last checkpoint. Null if the run cannot be
 * resumed.
 */
export function resumeCostMicro(run: Run & Pick<RunRow, 'base'>, workload: Workload): bigint | null {
  const isOver = workload.state === 'stopped' || workload.state === 'failed';
  // The run never got its base model, so there is nothing to resume.
  if (awaitsClone(run)) return null;
  // An export cannot continue with a partly merged model; the user starts it again.
  if (!isOver || workload.filesRemovedAt || run.kind === 'export') return null;
  const { unpaidSeconds } = settleSeconds(run, secondsSaved(workload));
  return runCostMicro(run.price, unpaidSeconds + secondsLeft(workload), run.devices) || 1n;
}
