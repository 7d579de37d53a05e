import type { vllmProgress as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { findDeployment, findTextServer } from './queries.ts';
import { show } from './read-deployment.ts';

/** How far a deployment of the caller has come. */
export async function getVllmProgress(
  ctx: Context,
  { params }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId: params.podId });
  if (!row) throw deploymentNotFound();
  const { progress, phase, status } = await show(
    ctx.db,
    row,
    await findTextServer(ctx.db, row.text_server_id),
  );
  return { pod_id: row.id, progress, phase, status };
}
