import type { Context } from '../../platform/context.ts';
import { deleteGeneration } from './delete-generation.ts';
import { deletePicturesOf } from './pictures/picture-queries.ts';
import { deleteTurnsOf, listGenerationIds } from './queries.ts';

const BATCH = 100;

/** Deletes all generations of the caller, their turns, and pictures that were to be edited; what is under way is stopped. */
export async function forgetGenerations(ctx: Context): Promise<void> {
  for (;;) {
    const ids = await listGenerationIds(ctx.db, ctx.caller.userId, BATCH);
    if (ids.length === 0) break;
    for (const id of ids) await deleteGeneration(ctx, { id });
  }
  await deleteTurnsOf(ctx.db, ctx.caller.userId);
  await deletePicturesOf(ctx.db, ctx.caller.userId);
}
