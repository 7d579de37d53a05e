import * as z from 'zod';
import type { Database } from '../../../platform/db/database.ts';
import { unknownCursor } from '../../../platform/errors.ts';
import type { AssetRow } from '../queries.ts';
import { type ListCursor, type ListFilter, listAssets, type SortKey } from './list-queries.ts';

const time = z.string().regex(/^\d{4}-\d\d-\d\d [\d:.+-]+$/);
const values: Record<SortKey, z.ZodType<string>> = {
  updated: time,
  created: time,
  title: z.string(),
  size: z.string().regex(/^\d{1,18}$/),
  downloads: z.string().regex(/^\d{1,18}$/),
};

/**
 * Returns one page of the assets that a user may read, with the next cursor. Throws AppError
 * 'invalid_request' for an invalid cursor.
 */
export async function readPage(
  db: Database,
  { cursor, limit, ...filter }: Omit<ListFilter, 'cursor'> & { cursor: string | undefined },
): Promise<{ rows: AssetRow[]; nextCursor: string | null }> {
  const found = await listAssets(db, {
    ...filter,
    cursor: cursor ? parseCursor(cursor, filter.sort) : null,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: found.length > limit && last ? formatCursor(filter.sort, last) : null };
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
