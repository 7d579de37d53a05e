import type { vllmMetrics as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { chatRequestsPerMinute } from './gateway-queries.ts';
import { findDeployment } from './queries.ts';

/** Requests, latency and speed of a deployment, one point per minute in which it was asked something. */
export async function getVllmMetrics(
  ctx: Context,
  { params, query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId: params.podId });
  if (!row) throw deploymentNotFound();
  const since = new Date(ctx.clock.now().getTime() - query.minutes * 60_000);
  const minutes = await chatRequestsPerMinute(ctx.db, { podId: row.id, since });
  return {
    points: minutes.map((point) => ({
      at: point.minute.toISOString(),
      requests: Number(point.requests),
      errors: Number(point.errors),
      prompt_tokens: Number(point.prompt_tokens),
      completion_tokens: Number(point.completion_tokens),
      time_to_first_token_ms_p50: point.first_token_ms_p50,
      latency_ms_p50: point.total_ms_p50,
      latency_ms_p95: point.total_ms_p95,
      tokens_per_second: point.tokens_per_second,
    })),
  };
}
