import type { Generation } from '@bakehouse/contract/generations';
import type { Context } from '../../platform/context.ts';
import { readSnapshot } from '../../platform/db/read-snapshot.ts';
import { AppError } from '../../platform/errors.ts';
import { findGeneration } from './find-generations.ts';
import { showGenerations } from './show-generations.ts';

/** Returns one of the caller's generations. Throws AppError 'not_found'. */
export async function getGeneration(ctx: Context, { id }: { id: string }): Promise<Generation> {
  return readSnapshot(ctx.db, async (tx) => {
    const row = await findGeneration(tx, { id, userId: ctx.caller.userId });
    const [shown] = await showGenerations(ctx, tx, row ? [row] : []);
    if (!shown) throw new AppError('not_found', { publicMessage: 'No generation has this id' });
    return shown;
  });
}
