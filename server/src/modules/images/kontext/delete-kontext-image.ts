import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { deleteGeneration } from '../../generations/delete-generation.ts';
import { findGeneration } from '../../generations/find-generations.ts';

/** Deletes an edit and its outputs. Throws AppError 'not_found'. */
export async function deleteKontextImage(ctx: Context, { id }: { id: string }): Promise<void> {
  const row = await findGeneration(ctx.db, { id, userId: ctx.caller.userId });
  if (row?.generator !== 'flux-kontext')
    throw new AppError('not_found', { publicMessage: 'No picture has this id' });
  await deleteGeneration(ctx, { id });
}
