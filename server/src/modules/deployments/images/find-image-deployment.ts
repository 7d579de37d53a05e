import { type ImageDeployment, imageDeploymentKinds } from '@bakehouse/contract/deployments/images';
import type { Context } from '../../../platform/context.ts';
import { deploymentNotFound } from '../deployment-not-found.ts';
import { findDeployment } from '../find-deployments.ts';
import { toImageDeployment } from '../kinds/to-image-deployment.ts';
import { readDeployment } from '../read-deployment.ts';

/**
 * Returns the caller's deployment of an image model, including ended ones. Its `model_name` addresses it,
 * like a starter's. Throws AppError 'not_found'.
 */
export async function findImageDeployment(ctx: Context, podId: string): Promise<ImageDeployment> {
  const row = await findDeployment(ctx.db, { userId: ctx.caller.userId, podId });
  const kind = imageDeploymentKinds.find((one) => one === row?.kind);
  if (!kind) throw deploymentNotFound();
  return toImageDeployment(ctx.config, await readDeployment(ctx, { podId, kinds: [kind] }));
}
