import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { Workload } from '../../../engine/model/workload.ts';
import { invalidRequest, messageWithAmounts } from '../../../platform/errors.ts';
import type { RunRow } from '../queries.ts';
import { runCostMicro } from '../validation/estimate-run.ts';

/** Returns the default ceiling: 1.5 times the quote. */
export function defaultCeilingMicro(quoteMicro: bigint): bigint {
  const ceiling = quoteMicro + (quoteMicro + 1n) / 2n;
  return ceiling > 0n ? ceiling : 1n;
}

/** Minimum seconds of free work in the last step. */
const FINISH_S = 300;

/** A run without a chosen ceiling is stopped after this multiple of its estimate. */
export const ESTIMATE_FACTOR_MAX = 4;

type Steps = Pick<Workload, 'step' | 'stepsTotal'>;
type Rounds = Pick<RunRow, 'ceilingMicro' | 'settledMicro' | 'chargedMicro'>;

/**
 * Returns the credits that a round may use beyond its hold, never charged, so that a paid run ends with a
 * model (docs/decisions/run-cost-ceiling.md):
 *
 * - Without a chosen ceiling, once the default one is held: up to four times the estimate.
 * - With a chosen ceiling, in the first round once it is held: the held amount again. Later rounds know the
 *   cost of the rest.
 * - In the last step: the held amount again, and at least the cost of five minutes.
 * - With a ceiling below the quote: the held amount again, once all steps are done.
 * - With a chosen ceiling before the first step, when the number of steps is unknown: nothing.
 */
export function freeWorkMicro(
  run: Rounds & Pick<RunRow, 'price' | 'devices' | 'quote' | 'heldMicro' | 'resumes' | 'estimateMicro'>,
  steps: Steps,
): bigint {
  const { heldMicro, estimateMicro } = run;
  const isHeld = heldMicro >= remainingCeilingMicro(run);
  const toEstimate =
    estimateMicro !== null && isHeld ? BigInt(ESTIMATE_FACTOR_MAX) * estimateMicro - heldMicro : 0n;
  if (!isInLastStep(steps)) {
    if (estimateMicro !== null) return largerAmount(toEstimate, 0n);
    return steps.step === 0 || stopsAtCeiling(run) || !isHeld ? 0n : heldMicro;
  }
  if (isCutShort(run)) return steps.step < steps.stepsTotal ? 0n : heldMicro;
  const least = largerAmount(heldMicro, runCostMicro(run.price, FINISH_S, run.devices));
  return largerAmount(toEstimate, least);
}

/**
 * True if a run without a chosen ceiling has taken four times its estimate. This can be less than the
 * ceiling, if the run was resumed near its end. A run in its last step may finish.
 */
export function isOverTime(
  { estimateMicro }: Pick<RunRow, 'estimateMicro'>,
  usedMicro: bigint,
  steps: Steps,
): boolean {
  return (
    estimateMicro !== null && usedMicro > BigInt(ESTIMATE_FACTOR_MAX) * estimateMicro && !isInLastStep(steps)
  );
}

function isInLastStep({ step, stepsTotal }: Steps): boolean {
  return step > 0 && step >= stepsTotal - 1;
}

function largerAmount(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

type Chosen = Pick<RunRow, 'ceilingMicro' | 'estimateMicro' | 'quote'>;

/**
 * True if a run is stopped at its ceiling even before its last step. The user has chosen this ceiling, either
 * below the quote or when resuming.
 */
export function stopsAtCeiling(run: Chosen & Pick<RunRow, 'resumes'>): boolean {
  return run.estimateMicro === null && (isCutShort(run) || run.resumes > 0);
}

function isCutShort({ ceilingMicro, estimateMicro, quote }: Chosen): boolean {
  return estimateMicro === null && ceilingMicro < parseBgl(quote.total);
}

/** Returns what this round may cost: the ceiling minus the cost of all earlier rounds. */
export function remainingCeilingMicro({ ceilingMicro, settledMicro }: Rounds): bigint {
  return ceilingMicro > settledMicro ? ceilingMicro - settledMicro : 0n;
}

/** Returns the cost of an ended run over all its rounds. */
export function costSoFarMicro({ settledMicro, chargedMicro }: Rounds): bigint {
  return settledMicro + (chargedMicro ?? 0n);
}

/**
 * Returns the default ceiling of a resumed run: its current cost plus 1.5 times the remaining cost, but at
 * least the previous ceiling.
 */
export function resumeCeilingMicro(run: Rounds, costLeftMicro: bigint): bigint {
  const usual = costSoFarMicro(run) + defaultCeilingMicro(costLeftMicro);
  return usual > run.ceilingMicro ? usual : run.ceilingMicro;
}

/**
 * Throws AppError('invalid_request') unless the ceiling exceeds the run's current cost, including its saved
 * but unpaid work.
 */
export function assertCeilingAbove(run: Rounds, ceilingMicro: bigint, unpaidMicro = 0n): void {
  const soFar = costSoFarMicro(run);
  const due = soFar + unpaidMicro;
  if (ceilingMicro > due) return;
  const limit =
    unpaidMicro > 0n
      ? ', and the work that it has saved costs another {unpaid}. Set a limit above {due}'
      : '. Set a limit above that';
  const amounts = { cost: formatBgl(soFar), unpaid: formatBgl(unpaidMicro), due: formatBgl(due) };
  const { publicMessage, data } = messageWithAmounts(`The run has cost {cost} so far${limit}`, amounts);
  throw invalidRequest(publicMessage, { data, param: 'ceiling' });
}
