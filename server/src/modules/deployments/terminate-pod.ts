import type { terminatePod as contract } from '@bakehouse/contract/deployments';
import type { InputOf, ResponseOf } from '@bakehouse/contract/endpoint';
import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { endDeployment } from './end-deployment.ts';
import { findDeployment } from './queries.ts';
import { readDeployment } from './read-deployment.ts';

/** Stops a deployment of the caller and settles its bill. */
export async function terminatePod(
  ctx: Context,
  { params }: InputOf<typeof contract>,
): Promise<ResponseOf<typeof contract>> {
  const owner = { userId: ctx.caller.userId, podId: params.podId };
  if (!(await findDeployment(ctx.db, owner))) throw deploymentNotFound();
  await endDeployment(ctx, params.podId, 'Terminated by you');
  return readDeployment(ctx, owner);
}
