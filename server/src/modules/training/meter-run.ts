import { stopWorkload } from '../../engine/stop-workload.ts';
import type { Workload } from '../../engine/workload.ts';
import type { Transaction } from '../../platform/db/database.ts';
import { AppError } from '../../platform/errors.ts';
import { availableMicro, extendHold } from '../credits/ledger.ts';
import { runCostMicro } from './estimate-run.ts';
import { type RunRow, updateHold } from './queries.ts';

/** The hold is extended when less than this is left of it, by this much. */
const LEFT_S = 15;
const EXTENDED_BY_S = 300;
/** Far longer than a run waits; one that works longer has its hold extended. */
export const HOLD_MS = 30 * 24 * 60 * 60 * 1000;

/**
 * Step: makes sure that the hold covers what the run has used and is about to use. When the
 * balance does not allow it any more and the hold is used up, the run is asked to save its work
 * and end; the moments until then are free.
 */
export async function meterRun(tx: Transaction, run: RunRow, workload: Workload, now: Date): Promise<void> {
  if (run.chargedMicro !== null || workload.wanted === 'stopped') return;
  const costAfter = (seconds: number) =>
    runCostMicro(run.priceId, workload.activeSeconds - run.settledSeconds + seconds, run.devices);
  let held = run.heldMicro;
  const isShort = held < costAfter(LEFT_S) && workload.startedAt !== null;
  const expiresSoon = run.holdExpiresAt.getTime() - now.getTime() < HOLD_MS / 2;
  if (isShort || expiresSoon) held = await extend(tx, run, isShort ? costAfter(EXTENDED_BY_S) : held, now);
  if (held < costAfter(0)) {
    await stopWorkload(tx, { id: run.id, reason: 'The credit has ended. The work was saved', now });
  }
}

/** Extends the hold to `wantedMicro`, or to as much as there is. Returns what is held then. */
async function extend(tx: Transaction, run: RunRow, wantedMicro: bigint, now: Date): Promise<bigint> {
  const most = run.heldMicro + (await availableMicro(tx, run.userId));
  const amountMicro = wantedMicro < most ? wantedMicro : most;
  const expiresAt = new Date(now.getTime() + HOLD_MS);
  try {
    await extendHold(tx, { holdId: run.holdId, amountMicro, expiresAt });
  } catch (error) {
    // Somebody else has spent it since: what is held stays.
    if (error instanceof AppError && error.code === 'insufficient_funds') return run.heldMicro;
    throw error;
  }
  const micro = amountMicro > run.heldMicro ? amountMicro : run.heldMicro;
  await updateHold(tx, run.id, { micro, expiresAt });
  return micro;
}
