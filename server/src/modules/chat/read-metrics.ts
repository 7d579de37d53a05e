import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from '../deployments/deployment-not-found.ts';
import { chatRequestsPerMinute } from './gateway-queries.ts';
import { findDeployment } from '../deployments/queries.ts';

type Minutes = Awaited<ReturnType<typeof chatRequestsPerMinute>>;

/** Requests, latency and speed of a text deployment, one row per minute in which it was asked something. */
export async function readMetrics(
  ctx: Context,
  { podId, minutes }: { podId: string; minutes: number },
): Promise<Minutes> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId, kind: 'text' });
  if (!row) throw deploymentNotFound();
  const since = new Date(ctx.clock.now().getTime() - minutes * 60_000);
  return chatRequestsPerMinute(ctx.db, { podId: row.id, since });
}
