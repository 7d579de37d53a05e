import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { endGeneration } from './end-generation.ts';
import { findOwnGeneration } from './find-own-generation.ts';
import { getGeneration } from './get-generation.ts';
import { refuseNewJob, withdrawJob } from './services/service-job.ts';

/**
 * Cancels a generation at no charge; does nothing if it has ended. The process that runs it loses its lease.
 * Throws AppError 'not_found', and the errors of `withdrawJob`: a job that the service has already started
 * continues and is charged.
 */
export async function cancelGeneration(ctx: Context, { id }: { id: string }): Promise<Generation> {
  const withdrawn = await withdrawJob(ctx, { id });
  await inTransaction(ctx.db, async (tx) => {
    const row = await findOwnGeneration(tx, { id, userId: ctx.caller.userId });
    if (row.ended_at !== null) return;
    refuseNewJob(row, withdrawn);
    const now = ctx.clock.now();
    await endGeneration(tx, row, {
      state: 'cancelled',
      reason: 'Cancelled',
      chargedMicro: 0n,
      now,
    });
  });
  return getGeneration(ctx, { id });
}
