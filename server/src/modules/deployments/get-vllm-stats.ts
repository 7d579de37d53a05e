import type { vllmStats as contract } from '@bakehouse/contract/deployments';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl, parseBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { listVllm } from './list-vllm.ts';
import { sumChatRequests } from './queries.ts';

/** Sums over the caller's text deployments, ended ones included. */
export async function getVllmStats(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const { pods } = await listVllm(ctx, { params: { userId: ctx.caller.userId }, query: { include_terminated: true }, body: undefined });
  const used = await sumChatRequests(ctx.db, ctx.caller.userId);
  const count = (...statuses: string[]) => pods.filter((pod) => statuses.includes(pod.status)).length;
  const time = pods.reduce((sum, pod) => sum + parseBgl(pod.cost_so_far), 0n);
  return {
    total: pods.length,
    running: count('running', 'degraded', 'sleeping'),
    deploying: count('queued', 'deploying'),
    failed: count('failed'),
    requests: Number(used.requests),
    prompt_tokens: Number(used.prompt_tokens),
    completion_tokens: Number(used.completion_tokens),
    cost: formatBgl(time + used.cost_micro),
  };
}
