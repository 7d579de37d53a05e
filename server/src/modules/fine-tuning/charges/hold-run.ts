import { formatBgl, smallerAmount } from '@bakehouse/contract/money';
import type { Workload } from '../../../engine/model/workload.ts';
import { stopWorkload } from '../../../engine/request-workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { availableMicro } from '../../billing/ledger/available-micro.ts';
import {
  extendHold,
  hold,
  isCreditExhausted,
  remainingBudgetMicro,
  settle,
} from '../../billing/ledger/holds/holds.ts';
import { type RunHold, type RunRow, updateCharge, updateHold, updateStopReason } from '../queries.ts';
import { ESTIMATE_FACTOR_MAX, freeWorkMicro, isOverTime, remainingCeilingMicro } from './ceiling.ts';
import { roundCostMicro } from './cost.ts';

/** Far longer than a run waits to start. A running run extends its hold. */
const HOLD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * When the rest of the hold pays for less than `LEFT_S` seconds, it is extended by `EXTENDED_BY_S` seconds.
 */
const LEFT_S = 15;

const EXTENDED_BY_S = 300;

type Held = Pick<RunRow, 'id' | 'kind' | 'userId' | 'keyId' | 'title' | 'modelAssetId' | 'dataset'>;

/**
 * Step: holds credits for a run, at least 1 micro-BGL. `round` distinguishes the holds of one run. Throws
 * AppError('insufficient_funds') or 'budget_exceeded'.
 */
export async function holdForRun(
  tx: Transaction,
  run: Held,
  input: { round: string; amountMicro: bigint; ceilingMicro: bigint; now: Date },
): Promise<RunHold> {
  const micro = input.amountMicro > 0n ? input.amountMicro : 1n;
  const expiresAt = new Date(input.now.getTime() + HOLD_MS);
  const { holdId } = await hold(tx, {
    userId: run.userId,
    amountMicro: micro,
    kind: 'fine_tuning',
    description: `${run.kind === 'export' ? 'Export' : 'Fine-tuning'} of ${run.title} (limit: ${formatBgl(input.ceilingMicro)} BGL)`,
    references: {
      asset_name: run.title,
      model_id: run.modelAssetId,
      dataset_id: run.dataset.assetId,
      run_id: run.id,
      ...(run.keyId && { key_id: run.keyId }),
    },
    expiresAt,
    idempotencyKey: `run:${run.id}:${input.round}`,
  });
  return { id: holdId, micro, expiresAt };
}

type Metered = { run: RunRow; workload: Workload; now: Date; freeIdleCredit: () => void };

/**
 * Step: extends the hold, up to the ceiling, so that it covers the used time and the next seconds.
 * If the ceiling, the balance or the API key's budget does not allow that and the hold is used up, the run is
 * asked to save its work and end. Its time until then is free. A run in its last step or later may finish
 * first. Phases that are not counted, such as uploading the result, are never stopped for lack of credits.
 * While credits are short, `freeIdleCredit` ends idle usage windows of the owner. Their credits are available
 * when the run reports again.
 */
export async function meterRun(
  tx: Transaction,
  { run, workload, now, freeIdleCredit }: Metered,
): Promise<void> {
  if (run.chargedMicro !== null || workload.wanted === 'stopped') return;
  const costAfter = (seconds: number) => roundCostMicro(run, workload.activeSeconds + seconds);
  let held = run.heldMicro;
  const ceiling = remainingCeilingMicro(run);
  const isShort = held < smallerAmount(costAfter(LEFT_S), ceiling) && workload.startedAt !== null;
  const expiresSoon = run.holdExpiresAt.getTime() - now.getTime() < HOLD_MS / 2;
  const wanted = isShort ? smallerAmount(costAfter(EXTENDED_BY_S), ceiling) : held;
  if (isShort || expiresSoon) held = await extend(tx, run, wanted, now);
  if (held < wanted) freeIdleCredit();
  if (!workload.phaseCounted) return;
  const used = costAfter(0);
  const lent = freeWorkMicro({ ...run, heldMicro: held }, workload);
  if (isOverTime(run, used, workload)) await stopFor(tx, run, 'time', now);
  else if (held === 0n || held + lent < used) {
    const limit = run.estimateMicro === null ? 'ceiling' : 'time';
    await stopFor(tx, run, held < ceiling ? (await readMeans(tx, run)).limit : limit, now);
  }
}

async function stopFor(
  tx: Transaction,
  run: RunRow,
  reason: NonNullable<RunRow['stopReason']>,
  now: Date,
): Promise<void> {
  const why = {
    ceiling: 'The run reached its spending limit',
    time: `The run took ${ESTIMATE_FACTOR_MAX} times as long as estimated`,
    credits: 'Your credits ran out',
    budget: 'The budget of its API key is used up',
  }[reason];
  await updateStopReason(tx, run.id, reason);
  await stopWorkload(tx, { id: run.id, reason: why, now });
}

/**
 * Returns how much more can be held for the run, and whether the owner's credits or the key's budget set this
 * limit.
 */
async function readMeans(
  tx: Transaction,
  run: RunRow,
): Promise<{ micro: bigint; limit: 'credits' | 'budget' }> {
  const available = await availableMicro(tx, run.userId);
  const left = run.keyId === null ? null : await remainingBudgetMicro(tx, run.keyId);
  return left !== null && left < available
    ? { micro: left, limit: 'budget' }
    : { micro: available, limit: 'credits' };
}

/** Extends the hold to `wantedMicro`, or as far as credits and budget allow. Returns the held amount. */
async function extend(tx: Transaction, run: RunRow, wantedMicro: bigint, now: Date): Promise<bigint> {
  const { micro: available } = await readMeans(tx, run);
  const micro = smallerAmount(wantedMicro, run.heldMicro + available);
  const expiresAt = new Date(now.getTime() + HOLD_MS);
  try {
    await extendHold(tx, { holdId: run.holdId, amountMicro: micro, expiresAt });
  } catch (error) {
    // Another transaction has spent the credits, so the hold stays unchanged.
    if (isCreditExhausted(error)) return run.heldMicro;
    if (error instanceof AppError && error.code === 'conflict') {
      return replace(tx, run, smallerAmount(wantedMicro, available), now);
    }
    throw error;
  }
  const held = micro > run.heldMicro ? micro : run.heldMicro;
  await updateHold(tx, run.id, { id: run.holdId, micro: held, expiresAt });
  return held;
}

/**
 * Holds credits again after the hold has expired, e.g. while the run waited. Returns the held amount; 0 if
 * nothing can be held.
 */
async function replace(tx: Transaction, run: RunRow, amountMicro: bigint, now: Date): Promise<bigint> {
  if (amountMicro <= 0n) return 0n;
  try {
    const newHold = await holdForRun(tx, run, {
      round: `after:${run.holdId}`,
      amountMicro,
      ceilingMicro: run.ceilingMicro,
      now,
    });
    await updateHold(tx, run.id, newHold);
    return newHold.micro;
  } catch (error) {
    if (isCreditExhausted(error)) return 0n;
    throw error;
  }
}

/**
 * Step: charges an ended run for its training time, and releases the rest of the hold. These are not charged:
 * failed runs, exports without a model, runs that ended before their first step, and runs whose hold has
 * expired, because its credits were already released. If such a run is resumed, the next round pays for its
 * saved work.
 */
export async function settleRun(tx: Transaction, run: RunRow, workload: Workload): Promise<void> {
  if (run.chargedMicro !== null) return;
  const used = roundCostMicro(run, workload.activeSeconds, workload.state === 'completed');
  const leftNothing =
    workload.state === 'failed' || (run.kind === 'export' && workload.state !== 'completed');
  const chargedMicro = leftNothing ? 0n : smallerAmount(mostMicro(run, workload, used), run.heldMicro);
  await updateCharge(tx, run.id, chargedMicro);
  try {
    await settle(tx, { holdId: run.holdId, amountMicro: chargedMicro });
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'conflict')) throw error;
    await updateCharge(tx, run.id, 0n);
  }
}

/**
 * Returns the maximum charge: a run that was stopped because it exceeded its estimated time costs at most the
 * estimate.
 */
function mostMicro({ stopReason, estimateMicro }: RunRow, { state }: Workload, used: bigint): bigint {
  return stopReason === 'time' && estimateMicro !== null && state !== 'completed'
    ? smallerAmount(used, estimateMicro || 1n)
    : used;
}
