import type { Context } from '../../platform/context.ts';
import { deleteGeneration } from '../generations/delete-generation.ts';
import { findVideo } from './find-video.ts';

/** Deletes a video of the caller. Throws AppError 'not_found', and whatever `deleteGeneration` throws. */
export async function deleteVideo(ctx: Context, { id }: { id: string }): Promise<void> {
  await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  await deleteGeneration(ctx, { id });
}
