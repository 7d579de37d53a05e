import type { InputOf } from '@bakehouse/contract/endpoint';
import type { cancelSweep as endpoint, Sweep } from '@bakehouse/contract/sweeps';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { selectSweptRuns } from '../queries.ts';
import { stopRun } from '../runs/cancel-run.ts';
import { findOwnSweep } from './find-own-sweep.ts';
import { readSweep } from './read-sweep.ts';

/** Asks every run of a sweep that has not ended to save its work and end. */
export async function cancelSweep(ctx: Context, { params }: InputOf<typeof endpoint>): Promise<Sweep> {
  const { sweepId } = params;
  return inTransaction(ctx.db, async (tx) => {
    await findOwnSweep(tx, { sweepId, userId: ctx.caller.userId });
    const runs = await selectSweptRuns(tx, [sweepId]);
    // Two that cancel at once lock them in the same order.
    for (const run of runs.sort((one, other) => one.id.localeCompare(other.id))) await stopRun(tx, ctx, run);
    return readSweep(tx, ctx, sweepId);
  });
}
