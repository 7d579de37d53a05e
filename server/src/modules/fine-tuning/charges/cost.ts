import type { Workload } from '../../../engine/model/workload.ts';
import { secondsSaved } from '../../../engine/workloads.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

const HOUR_S = 3600;

/** Minimum for the last evaluation and related work, even if no step remains. */
const LEAST_S = 60;

type Run = Pick<
  RunRow,
  'kind' | 'price' | 'devices' | 'settledSeconds' | 'unpaidSeconds' | 'chargedMicro' | 'heldMicro'
>;

/** Returns what an ended run owes for this many seconds of saved work. */
export function unpaidMicro(run: Run, savedSeconds: number): bigint {
  return runCostMicro(run.price, settleSeconds(run, savedSeconds).unpaidSeconds, run.devices);
}

/**
 * Returns the seconds that an ended round carries over to the next, which resumes with `savedSeconds` of
 * work. A failed round is not charged, but the next round pays for its saved work up to its hold; the rest is
 * free. Charged work stays charged, even if its machine was lost.
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

/** Returns how many seconds the hold pays for; 0 if time is free. */
function secondsHeld({ heldMicro, price, devices }: Run): number {
  const hourMicro = Number(runCostMicro(price, HOUR_S, devices));
  return hourMicro === 0 ? 0 : (Number(heldMicro) / hourMicro) * HOUR_S;
}

/** Extrapolates the run's speed; uses the estimate if no step was made. */
function secondsLeft({ step, stepsTotal, activeSeconds, expectedSeconds }: Workload): number {
  const hasPace = step > 0 && activeSeconds > 0;
  return Math.max(LEAST_S, hasPace ? (activeSeconds / step) * (stepsTotal - step) : (expectedSeconds ?? 0));
}

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

/**
 * Returns the amount to hold for resuming an ended run from its last checkpoint; null if it cannot be
 * resumed.
 */
export function resumeCostMicro(run: Run & Pick<RunRow, 'base'>, workload: Workload): bigint | null {
  const isOver = workload.state === 'stopped' || workload.state === 'failed';
  // It never got its base model, so it has done nothing.
  if (awaitsClone(run)) return null;
  // A half-merged model is useless, so an export is started again as a new run.
  if (!isOver || workload.filesRemovedAt || run.kind === 'export') return null;
  const { unpaidSeconds } = settleSeconds(run, secondsSaved(workload));
  return runCostMicro(run.price, unpaidSeconds + secondsLeft(workload), run.devices) || 1n;
}
