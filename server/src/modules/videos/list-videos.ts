import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { videoGenerators } from '@bakehouse/contract/generators';
import type { listVideos as endpoint } from '@bakehouse/contract/videos';
import type { Context } from '../../platform/context.ts';
import { refused } from '../../platform/errors.ts';
import { listGenerations } from '../generations/list-generations.ts';
import { generatorNamed } from './find-video-model.ts';
import { showVideos } from './show-videos.ts';

/** The caller's videos, newest first. Throws AppError 'invalid_request' for a model that there is not. */
export async function listVideos(
  ctx: Context,
  { model_name: name, limit, cursor }: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const generator = name === undefined ? undefined : generatorNamed(name);
  if (name !== undefined && !generator) throw refused('model_name', `model_name: there is no model ${name}`);
  const generators = generator ? [generator] : videoGenerators;
  const page = await listGenerations(ctx, { generators, limit, cursor });
  return {
    object: 'list',
    data: await showVideos(ctx, page.generations),
    next_cursor: page.next_cursor,
  };
}
