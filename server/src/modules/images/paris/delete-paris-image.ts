import type { Context } from '../../../platform/context.ts';
import { AppError } from '../../../platform/errors.ts';
import { deleteGeneration } from '../../generations/delete-generation.ts';
import { findGenerationOfOutput } from '../../generations/find-generations.ts';

/** Deletes a picture with its generation. Throws AppError 'not_found'. */
export async function deleteParisImage(ctx: Context, { id }: { id: string }): Promise<void> {
  const generationId = await findGenerationOfOutput(ctx.db, { id, userId: ctx.caller.userId });
  if (generationId === undefined)
    throw new AppError('not_found', { publicMessage: 'No picture has this id' });
  await deleteGeneration(ctx, { id: generationId });
}
