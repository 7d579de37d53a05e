import { smallerAmount } from '@bakehouse/contract/money';
import type { Workload } from '../../../engine/model/workload.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { AppError } from '../../../platform/errors.ts';
import { settle } from '../../credits/ledger/holds/settle.ts';
import { type RunRow, updateCharge } from '../queries.ts';
import { roundCostMicro } from './round-cost.ts';

/**
 * Step: charges an ended run for its training time and releases the rest of the hold. Not charged: failed
 * runs, exports without a model, runs that ended before their first step, and runs whose hold expired (its
 * credits were already released). The next round, if any, pays for saved work of such a round.
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

/** A run that was stopped for exceeding its estimate costs at most the estimate. */
function mostMicro({ stopReason, estimateMicro }: RunRow, { state }: Workload, used: bigint): bigint {
  return stopReason === 'time' && estimateMicro !== null && state !== 'completed'
    ? smallerAmount(used, estimateMicro || 1n)
    : used;
}
