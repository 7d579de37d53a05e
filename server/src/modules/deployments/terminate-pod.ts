import type { terminatePod as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { endDeployment } from './end-deployment.ts';
import { findDeployment, lockDeployment } from './queries.ts';
import { readDeployment } from './read-deployment.ts';
import { reconcileTextServer } from './reconcile-text-server.ts';

/** Stops a deployment and settles its bill. One that has ended stays as it is. */
export async function terminatePod(
  ctx: Context,
  { params }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const owner = { userId: ctx.caller.userId, podId: params.podId };
  await ctx.db.transaction().execute(async (tx) => {
    if (!(await findDeployment(tx, owner))) throw deploymentNotFound();
    const deployment = await lockDeployment(tx, params.podId);
    if (deployment.terminated_at) return;
    await endDeployment(tx, ctx.clock.now(), deployment, { failed: false, reason: 'Terminated by you' });
    await reconcileTextServer(tx, ctx.clock, deployment.text_server_id);
  });
  return readDeployment(ctx, owner);
}
