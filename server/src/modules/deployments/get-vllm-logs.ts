import type { vllmLogs as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import { selectLogLines } from '../../engine/queries.ts';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { findDeployment, findTextServer } from './queries.ts';

/**
 * The end of the log of the model server that carries, or last carried, the deployment: from the
 * deployment's beginning on, since what a shared server did before is not its own.
 */
export async function getVllmLogs(
  ctx: Context,
  { params, query }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId: params.podId });
  if (!row) throw deploymentNotFound();
  const server = await findTextServer(ctx.db, row.text_server_id);
  const workloadId = row.carrier_id ?? server.next_workload_id ?? server.workload_id;
  const lines = workloadId ? await selectLogLines(ctx.db, workloadId, query.limit) : [];
  const own = lines.filter(({ at }) => at >= row.created_at);
  return { lines: own.map(({ at, line }) => ({ at: at.toISOString(), line })) };
}
