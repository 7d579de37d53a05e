import type { vllmStats as contract } from '@bakehouse/contract/deployments';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBgl } from '@bakehouse/contract/money';
import type { Context } from '../../platform/context.ts';
import { timeCostMicro, usedMs } from './meter-deployment.ts';
import { listDeployments, sumDeployments } from './queries.ts';
import { toWire } from './read-deployment.ts';

/** Sums over the caller's text deployments, ended ones included. */
export async function getVllmStats(ctx: Context): Promise<ResponseOf<typeof contract>> {
  const { userId } = ctx.caller;
  const sums = await sumDeployments(ctx.db, userId);
  const live = await listDeployments(ctx.db, { userId, includeTerminated: false });
  const statuses = (await toWire(ctx, live)).map(({ status }) => status);
  const count = (...wanted: string[]) => statuses.filter((status) => wanted.includes(status)).length;
  const open = live
    .filter((row) => row.hold_id !== null)
    .reduce((sum, row) => sum + timeCostMicro(row, usedMs(row, ctx.clock.now())), 0n);
  return {
    total: Number(sums.total),
    running: count('running', 'degraded', 'sleeping'),
    deploying: count('queued', 'deploying'),
    failed: Number(sums.failed),
    requests: Number(sums.requests),
    prompt_tokens: Number(sums.prompt_tokens),
    completion_tokens: Number(sums.completion_tokens),
    cost: formatBgl(sums.cost_micro + open),
  };
}
