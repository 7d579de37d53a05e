import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listLoras as endpoint } from '@bakehouse/contract/loras';
import type { Context } from '../../../platform/context.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { isReadableModel, selectLoras } from './queries.ts';

/**
 * Lists image LoRAs that the caller may read, newest first. The cursor is the last id of the previous page.
 */
export async function listLoras(
  { db, caller: { userId } }: Context,
  { search, cursor, limit }: InputOf<typeof endpoint>['query'],
): Promise<ResponseOf<typeof endpoint>> {
  if (cursor !== undefined && !(await isReadableModel(db, { userId, id: cursor }))) throw unknownCursor();
  const found = await selectLoras(db, { userId, search, after: cursor, limit: limit + 1 });
  const loras = found.slice(0, limit);
  return { loras, next_cursor: found.length > limit ? (loras.at(-1)?.id ?? null) : null };
}
