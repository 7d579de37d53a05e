import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { lockStoredBytes } from '../../platform/storage/owner-queries.ts';
import { endGeneration } from './end-generation.ts';
import { findOwnGeneration } from './find-own-generation.ts';
import { removeGeneration } from './queries.ts';
import { refuseNewJob, withdrawJob } from './services/service-job.ts';

/**
 * Deletes a generation and what it made; one that is under way is stopped, and costs nothing. Throws AppError 'not_found',
 * and what `withdrawJob` throws: what a service has begun is deleted when it is done.
 */
export async function deleteGeneration(
  ctx: Pick<Context, 'config' | 'db' | 'clock' | 'caller'>,
  { id }: { id: string },
): Promise<void> {
  const { userId } = ctx.caller;
  const withdrawn = await withdrawJob(ctx, { id });
  await inTransaction(ctx.db, async (tx) => {
    const row = await findOwnGeneration(tx, { id, userId });
    const now = ctx.clock.now();
    if (row.ended_at === null) {
      refuseNewJob(row, withdrawn);
      // What goes with the row is taken off there, and that is locked before the ledger.
      await lockStoredBytes(tx, userId);
      await endGeneration(tx, row, { state: 'cancelled', reason: 'Deleted', chargedMicro: 0n, now });
    }
    await removeGeneration(tx, id);
    await publishChange(tx, userId, { topic: 'generation', id });
  });
}
