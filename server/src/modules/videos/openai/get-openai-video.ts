import type { OpenAiVideo } from '@bakehouse/contract/openai-videos';
import type { Context } from '../../../platform/context.ts';
import { getGeneration } from '../../generations/get-generation.ts';
import { findVideo } from '../find-video.ts';
import { showOpenAiVideos } from './show-openai-videos.ts';

/** Returns a video of the caller by its generation's id. Throws AppError 'not_found'. */
export async function getOpenAiVideo(ctx: Context, id: string): Promise<OpenAiVideo> {
  await findVideo(ctx.db, { id, userId: ctx.caller.userId });
  const [shown] = await showOpenAiVideos(ctx, [await getGeneration(ctx, { id })]);
  if (!shown) throw new Error('showOpenAiVideos returned no video');
  return shown;
}
