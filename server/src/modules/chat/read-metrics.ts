import type { vllmMetrics as endpoint } from '@bakehouse/contract/deployments/text';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from '../deployments/deployment-not-found.ts';
import { findDeployment } from '../deployments/find-deployments.ts';
import { textKinds } from '../deployments/kinds/kinds.ts';
import { chatRequestsPerMinute } from './gateway-queries.ts';

/** Returns requests, latency and speed of a text deployment, with one point per minute that had requests. */
export async function readMetrics(
  ctx: Context,
  { params: { podId }, query: { minutes } }: InputOf<typeof endpoint>,
): Promise<ResponseOf<typeof endpoint>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId, kinds: textKinds });
  if (!row) throw deploymentNotFound();
  const since = new Date(ctx.clock.now().getTime() - minutes * 60_000);
  const rows = await chatRequestsPerMinute(ctx.db, { podId: row.id, since });
  return {
    points: rows.map((point) => ({
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
