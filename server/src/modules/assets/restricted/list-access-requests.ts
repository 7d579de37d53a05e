import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { listAccessRequests as endpoint } from '@bakehouse/contract/restricted-models';
import type { Context } from '../../../platform/context.ts';
import { unknownCursor } from '../../../platform/unknown-cursor.ts';
import { findRequest, listRequests } from './queries.ts';
import { toAccessRequest } from './to-restricted-model.ts';

/** Lists access requests, newest first; for operators. The cursor is the previous page's last request. */
export async function listAccessRequests(
  ctx: Context,
  { query: { state, cursor, limit } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  if (cursor !== undefined && !(await findRequest(ctx.db, cursor))) throw unknownCursor();
  const found = await listRequests(ctx.db, { state, cursor, limit: limit + 1 });
  const requests = found.slice(0, limit);
  return {
    requests: requests.map(toAccessRequest),
    next_cursor: found.length > limit ? (requests.at(-1)?.id ?? null) : null,
  };
}
