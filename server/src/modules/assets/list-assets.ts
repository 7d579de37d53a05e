import type { listAssets as endpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { hideParents } from './access/hide-parents.ts';
import type { Way } from './access/readable.ts';
import { findPipelines } from './recognise/find-pipelines.ts';
import { readPage } from './search/read-page.ts';
import { toSummary } from './to-wire.ts';

type Query = InputOf<typeof endpoint>['query'];

/**
 * Lists the caller's datasets, models or indexes, other users' assets that the caller may read, and the
 * starter models, as requested.
 */
export async function listAssets(ctx: Context, query: Query): Promise<ResponseOf<typeof endpoint>> {
  const { userId } = ctx.caller;
  const { rows, nextCursor } = await readPage(ctx.db, {
    userId,
    type: query.types ?? null,
    whose: waysOf(query),
    search: query.search,
    tags: query.tag ? [query.tag] : [],
    sort: query.sort,
    cursor: query.cursor,
    limit: query.limit,
  });
  const pipelines = query.include_pipelines
    ? await findPipelines(
        ctx,
        rows.map(({ id }) => id),
      )
    : null;
  const shown = await hideParents(ctx.db, { rows, userId });
  return {
    datasets: shown.map((row) => toSummary(row, pipelines?.get(row.id))),
    next_cursor: nextCursor,
  };
}

/** Granted models are listed with the starter models, because users choose them from the same forms. */
function waysOf({ whose, include_starter: withStarter }: Pick<Query, 'whose' | 'include_starter'>): Way[] {
  const everybodys: Way[] = withStarter ? ['starter', 'granted'] : [];
  return whose === 'all' ? ['own', 'shared', 'published', ...everybodys] : [whose, ...everybodys];
}
