import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { fromFlatId } from '@bakehouse/contract/fields/flat-id';
import { videoGenerators } from '@bakehouse/contract/generators';
import type { listOpenAiVideos as endpoint } from '@bakehouse/contract/openai-videos';
import type { Context } from '../../../platform/context.ts';
import { listGenerations } from '../../generations/list-generations.ts';
import { findVideo } from '../find-video.ts';
import { showOpenAiVideos } from './show-openai-videos.ts';

/** Returns the caller's videos, newest first. Throws AppError 'not_found' if `after` is not one of them. */
export async function listOpenAiVideos(
  ctx: Context,
  { limit, after }: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const cursor = after && fromFlatId(after);
  if (cursor !== undefined) await findVideo(ctx.db, { id: cursor, userId: ctx.caller.userId });
  const page = await listGenerations(ctx, { generators: videoGenerators, limit, cursor });
  const data = await showOpenAiVideos(ctx, page.generations);
  return {
    ...{ object: 'list', data, has_more: page.next_cursor !== null },
    ...{ first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
  };
}
