import type { listVllm as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { unknownCursor } from '../../platform/unknown-cursor.ts';
import { findDeployment, listDeployments } from './queries.ts';
import { toWire } from './read-deployment.ts';

/** The caller's text deployments, newest first; the cursor is the last one of the page before. */
export async function listVllm(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const { include_terminated: includeTerminated, model_id: assetId, cursor, limit } = query;
  const { userId } = ctx.caller;
  if (cursor !== undefined && !(await findDeployment(ctx.db, { userId, podId: cursor })))
    throw unknownCursor();
  const found = await listDeployments(ctx.db, {
    userId,
    includeTerminated,
    assetId,
    cursor,
    limit: limit + 1,
  });
  const rows = found.slice(0, limit);
  return {
    pods: await toWire(ctx, rows),
    next_cursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null,
  };
}
