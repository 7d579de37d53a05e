import type { InputOf } from '@bakehouse/contract/endpoint';
import type { cancelRun as endpoint, Run } from '@bakehouse/contract/runs';
import { stopWorkload } from '../../../engine/stop-workload.ts';
import type { Context } from '../../../platform/context.ts';
import type { Transaction } from '../../../platform/db/database.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { publishChange } from '../../../platform/events/publish-change.ts';
import { recordAudit } from '../../accounts/record-audit.ts';
import { cancelClone } from '../../hub/clone/cancel-clone.ts';
import { isUnneededClone } from '../cloning/clone-queries.ts';
import { awaitsClone } from '../cloning/hub-base.ts';
import type { RunRow } from '../queries.ts';
import { findOwnRun } from './find-own-run.ts';
import { toRun } from './to-run.ts';

/**
 * Asks a run to save its work and end, and cancels a clone that only this run waits for. Does nothing if the
 * run has ended or was already asked.
 */
export async function cancelRun(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Run> {
  const { userId } = ctx.caller;
  const { runId } = params;
  const { run, workload } = await inTransaction(ctx.db, async (tx) => {
    const own = await findOwnRun(tx, { runId, userId });
    await stopRun(tx, ctx, own.run);
    // Read while the workload is locked, because it may have just ended.
    return findOwnRun(tx, { runId, userId });
  });
  const cloneId = run.base.assetId;
  if (awaitsClone(run) && (await isUnneededClone(ctx.db, cloneId))) await cancelClone(ctx, { id: cloneId });
  return toRun(ctx.config, run, workload);
}

/** Step: asks a caller's run to save its work and end, unless it has ended or was already asked. */
async function stopRun(
  tx: Transaction,
  ctx: Context,
  { id, modelAssetId }: Pick<RunRow, 'id' | 'modelAssetId'>,
): Promise<void> {
  if (!(await stopWorkload(tx, { id, reason: 'Cancelled', now: ctx.clock.now() }))) return;
  const { userId } = ctx.caller;
  const detail = { run_id: id, model_id: modelAssetId };
  await recordAudit(tx, { userId, action: 'run.cancelled', detail });
  await publishChange(tx, userId, { topic: 'run', id });
}
