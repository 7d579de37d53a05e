import type { vllmProgress as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { findCarriers, findDeployment } from './queries.ts';
import { show } from './read-deployment.ts';

/** How far a deployment of the caller has come. */
export async function getVllmProgress(
  ctx: Context,
  { params }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId: params.podId });
  const carrier = row && (await findCarriers(ctx.db, [row.id])).get(row.id);
  if (!carrier) throw deploymentNotFound();
  const { progress, phase, status } = show(row, carrier);
  return { pod_id: row.id, progress, phase, status };
}
