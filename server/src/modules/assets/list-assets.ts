import type { listAssets as endpoint } from '@bakehouse/contract/assets';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import * as z from 'zod';
import type { Context } from '../../platform/context.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { findPipelines } from './recognise/find-pipelines.ts';
import { type ListCursor, listAssets as listRows, type SortKey } from './search/list-queries.ts';
import { toSummary } from './to-wire.ts';

const values: Record<SortKey, z.ZodType<string>> = {
  updated: z.string().regex(/^\d{4}-\d\d-\d\d [\d:.+-]+$/),
  title: z.string(),
  size: z.string().regex(/^\d{1,18}$/),
};

/** The caller's datasets, models or indexes, and the starter models where asked for. */
export async function listAssets(
  ctx: Context,
  query: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  const rows = await listRows(ctx.db, {
    userId: ctx.caller.userId,
    type: query.types ?? null,
    includeStarter: query.include_starter,
    search: query.search,
    tag: query.tag || undefined,
    sort: query.sort,
    cursor: query.cursor ? parseCursor(query.cursor, query.sort) : null,
    limit: query.limit + 1,
  });
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  const pipelines = query.include_pipelines
    ? await findPipelines(
        ctx,
        page.map(({ id }) => id),
      )
    : null;
  return {
    datasets: page.map((row) => toSummary(row, pipelines?.get(row.id))),
    next_cursor: rows.length > page.length && last ? formatCursor(query.sort, last) : null,
  };
}

function formatCursor(sort: SortKey, row: { sort_value: string; id: string }): string {
  return Buffer.from(JSON.stringify([sort, row.sort_value, row.id])).toString('base64url');
}

function parseCursor(text: string, sort: SortKey): ListCursor {
  const shape = z.tuple([z.literal(sort), values[sort], z.uuid()]);
  try {
    const [, value, id] = shape.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return { value, id };
  } catch (cause) {
    throw unknownCursor(cause);
  }
}
