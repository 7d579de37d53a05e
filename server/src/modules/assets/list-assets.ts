import type { listAssets as endpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { findPipelines } from './recognise/find-pipelines.ts';
import { readPage } from './search/read-page.ts';
import { toSummary } from './to-wire.ts';

/** The caller's datasets, models or indexes, and the starter models where asked for. */
export async function listAssets(
  ctx: Context,
  query: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const { rows, nextCursor } = await readPage(ctx.db, {
    userId: ctx.caller.userId,
    type: query.types ?? null,
    includeStarter: query.include_starter,
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
  return {
    datasets: rows.map((row) => toSummary(row, pipelines?.get(row.id))),
    next_cursor: nextCursor,
  };
}
