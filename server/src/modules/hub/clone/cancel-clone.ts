import type { Clone } from '@bakehouse/contract/hub/clones';
import type { Context } from '../../../platform/context.ts';
import { inTransaction } from '../../../platform/db/in-transaction.ts';
import { discardFiles } from './discard-files.ts';
import { endClone } from './end-clone.ts';
import { findOwnClone, lockOwnClone } from './find-own-clone.ts';
import { toWire } from './to-wire.ts';

/**
 * Cancels a clone and discards what it has copied; does nothing if it has ended. Throws AppError 'not_found'.
 */
export async function cancelClone(ctx: Context, { id }: { id: string }): Promise<Clone> {
  const own = { id, userId: ctx.caller.userId };
  const storeKeys = await inTransaction(ctx.db, async (tx) => {
    const row = await lockOwnClone(tx, own);
    if (row.ended_at !== null) return [];
    const discarded = await discardFiles(tx, own);
    await endClone(tx, row, { state: 'CANCELLED', reason: 'Cancelled', now: ctx.clock.now() });
    return discarded;
  });
  for (const storeKey of storeKeys) await ctx.blobs.parts.abandon(storeKey);
  return toWire(await findOwnClone(ctx.db, own));
}
