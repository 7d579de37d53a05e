import type { Context } from '../../platform/context.ts';
import { inTransaction } from '../../platform/db/in-transaction.ts';
import { publishChange } from '../../platform/events/publish-change.ts';
import { lockStoredBytes } from '../../platform/storage/owner-queries.ts';
import { endGeneration } from './end-generation.ts';
import { findOwnGeneration } from './find-own-generation.ts';
import { removeGeneration } from './queries.ts';
import { refuseNewJob, withdrawJob } from './services/service-job.ts';

/**
 * Deletes a generation and its outputs; cancels a running one at no charge. Throws AppError 'not_found', and
 * the errors of `withdrawJob`: a job that the service has already started can only be deleted once it is
 * done.
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
      // Deleting the row also reduces the user's stored bytes, which must be locked before the ledger.
      await lockStoredBytes(tx, userId);
      await endGeneration(tx, row, { state: 'cancelled', reason: 'Deleted', chargedMicro: 0n, now });
    }
    await removeGeneration(tx, id);
    await publishChange(tx, userId, { topic: 'generation', id });
  });
}
