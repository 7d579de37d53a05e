import type { Context } from '../../platform/context.ts';
import { deleteGeneration } from './delete-generation.ts';
import { deletePicturesOf } from './pictures/picture-queries.ts';
import { listGenerationIds } from './queries.ts';

const BATCH = 100;

/** Deletes all generations of the caller, and pictures that were to be edited; those under way are stopped. */
export async function forgetGenerations(ctx: Context): Promise<void> {
  for (;;) {
    const ids = await listGenerationIds(ctx.db, ctx.caller.userId, BATCH);
    if (ids.length === 0) return deletePicturesOf(ctx.db, ctx.caller.userId);
    for (const id of ids) await deleteGeneration(ctx, { id });
  }
}
