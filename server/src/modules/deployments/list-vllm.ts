import type { listVllm as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { listDeployments } from './queries.ts';
import { toWire } from './read-deployment.ts';

/** The caller's text deployments, newest first. */
export async function listVllm(
  ctx: Context,
  { query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const rows = await listDeployments(ctx.db, {
    userId: ctx.caller.userId,
    includeTerminated: query.include_terminated,
  });
  return { pods: await toWire(ctx, rows) };
}
