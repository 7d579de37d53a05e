import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { videoGenerators } from '@bakehouse/contract/generators';
import type { listVideos as endpoint } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { listGenerations } from '../generations/list-generations.ts';
import { findVideoModel, generatorNamed } from './find-video-model.ts';
import { showVideos } from './show-videos.ts';

/** Returns the caller's videos, newest first. Throws AppError 'invalid_request' for an unknown model. */
export async function listVideos(
  ctx: Context,
  { model_name: name, limit, cursor }: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const generator = name === undefined ? undefined : generatorNamed(name);
  const by = generator ? { generators: [generator] } : { generators: videoGenerators, model: name };
  const page = await listGenerations(ctx, { ...by, limit, cursor });
  // Videos of an ended deployment can still be listed by its name.
  if (name !== undefined && page.generations.length === 0) await findVideoModel(ctx, name, 'model_name');
  return {
    object: 'list',
    data: await showVideos(ctx, page.generations),
    next_cursor: page.next_cursor,
  };
}
