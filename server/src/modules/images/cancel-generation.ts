import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { endGeneration } from './end-generation.ts';
import { findOwnGeneration } from './find-own-generation.ts';
import { getGeneration } from './get-generation.ts';
import { cancelAbandonedJob } from './services/cancel-abandoned-job.ts';

/**
 * Stops a generation, which costs nothing then; one that has ended stays as it is. Whoever runs it finds that it is
 * theirs no more.
 */
export async function cancelGeneration(ctx: Context, { id }: { id: string }): Promise<Generation> {
  const ended = await inTransaction(ctx.db, async (tx) => {
    const row = await findOwnGeneration(tx, { id, userId: ctx.caller.userId });
    if (row.ended_at !== null) return null;
    const now = ctx.clock.now();
    await endGeneration(tx, row, {
      state: 'cancelled',
      reason: 'Cancelled',
      chargedMicro: 0n,
      now,
    });
    return row;
  });
  if (ended) void cancelAbandonedJob(ctx, ended);
  return getGeneration(ctx, { id });
}
