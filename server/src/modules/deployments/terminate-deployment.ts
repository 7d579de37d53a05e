import type { Context } from '../../platform/context.ts';
import { deploymentNotFound } from './deployment-not-found.ts';
import { endDeployment } from './end-deployment.ts';
import { findDeployment, type OwnDeployment } from './find-deployments.ts';
import { type DeploymentView, readDeployment } from './read-deployment.ts';

/** Terminates a deployment of the caller and settles its bill. */
export async function terminateDeployment(
  ctx: Context,
  input: Omit<OwnDeployment, 'userId'>,
): Promise<DeploymentView> {
  const own = { userId: ctx.caller.userId, ...input };
  if (!(await findDeployment(ctx.db, own))) throw deploymentNotFound();
  await endDeployment(ctx, input.podId, { reason: 'Terminated by you', endedBy: own.userId });
  await ctx.rowChanges.catchUp();
  return readDeployment(ctx, input);
}
