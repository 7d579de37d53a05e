import type { Context } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { deleteGeneration } from './delete-generation.ts';
import { deleteTurnsOf, listGenerationIds } from './queries.ts';
import { deleteUnusedPicturesOf } from './sources/picture-queries.ts';

const BATCH = 100;

type Deleting = Pick<Context, 'config' | 'db' | 'clock' | 'caller' | 'log'>;

/**
 * Deletes all generations of the caller, their turns, and pictures uploaded for editing; cancels running
 * ones. Generations that a service has started are left for the next call: their price is held until they are
 * done.
 */
export async function forgetGenerations(ctx: Context): Promise<void> {
  let deleted: number;
  do {
    deleted = 0;
    for (const id of await listGenerationIds(ctx.db, ctx.caller.userId, BATCH))
      if (await tryToDelete(ctx, id)) deleted += 1;
  } while (deleted > 0);
  await deleteTurnsOf(ctx.db, ctx.caller.userId);
  await deleteUnusedPicturesOf(ctx.db, ctx.caller.userId);
}

/** Deletes the caller's generations requested before a given time; cancels running ones. */
export async function forgetGenerationsBefore(ctx: Deleting, before: Date): Promise<void> {
  let ids: string[];
  do {
    ids = await listGenerationIds(ctx.db, ctx.caller.userId, BATCH, before);
    for (const id of ids) await deleteGeneration(ctx, { id });
  } while (ids.length === BATCH);
}

async function tryToDelete(ctx: Deleting, id: string): Promise<boolean> {
  try {
    await deleteGeneration(ctx, { id });
    return true;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    // The service has started it or is unreachable.
    ctx.log.info({ err: error, generation_id: id }, 'deferred deletion of generation');
    return false;
  }
}
