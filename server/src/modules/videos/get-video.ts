import type { Video } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { getGeneration } from '../generations/get-generation.ts';
import { findVideo } from './find-video.ts';
import { showVideos } from './show-videos.ts';

/** Returns a video of the caller. Throws AppError 'not_found'. */
export async function getVideo(ctx: Context, { id }: { id: string }): Promise<Video> {
  await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [shown] = await showVideos(ctx, [await getGeneration(ctx, { id })]);
  if (!shown) throw new Error('showVideos returned no video');
  return shown;
}
